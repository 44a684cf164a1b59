// SPDX-License-Identifier: Apache-2.0
// The receiving end of a link. It pulls: what was sent by address is read when it is asked for,
// straight into its target, or into scratch memory when it is only to be looked at. The buffers of
// a rank of this process are looked at where they are.
// Threads: whoever holds the baton. Ownership: borrows peers, scratch and box. Failure: mismatch
// for another size than expected; peer_lost when the sender is gone, has closed the link because
// the communicator failed, or wrote nonsense.
// Cost: asking for an arrival loads one cache line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "transport/shm/peers.h"
#include "transport/shm/segment.h"

namespace hocket::transport::shm {

/// Buffers of one size and a page, at page boundaries; given back last, taken first.
class Scratch {
 public:
  explicit Scratch(std::uint64_t bytes) : bytes_(bytes) {}
  /// Null when there is no memory.
  std::byte* take();
  void give_back(std::byte* buffer) { free_.push_back(buffer); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  const std::uint64_t bytes_;
  std::vector<std::unique_ptr<std::byte, Free>> all_;
  std::vector<std::byte*> free_;
};

class Incoming {
 public:
  Incoming(Peers& peers, Scratch& scratch, Rank from, Result<Box*> box);
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  /// A message has arrived, or none will and front and land say why.
  bool ready() const { return has_arrival() || is_dead(); }
  /// world::Fabric::front, land and pop.
  Result<ConstBytes> front(std::uint64_t size);
  Result<void> land(Bytes target);
  void pop();

 private:
  /// Where an arrival's bytes are: here, or in the sender's memory.
  struct Source {
    const std::byte* here = nullptr;
    std::uint64_t there = 0;
  };
  bool has_arrival() const {
    return box_ != nullptr &&
           box_->slots()[at_].number.load(std::memory_order_acquire) == taken_ + 1;
  }
  // A sender's last message may come to light only after its end did.
  bool is_dead() const { return broken_ || (peer_.is_gone() && !has_arrival()); }
  Result<Source> oldest(std::uint64_t size);
  Result<void> pull(std::uint64_t there, std::uint64_t size);
  Result<void> begin_reading();
  void end_reading();
  Error nonsense(const std::string& what);

  Peers& peers_;
  Scratch& scratch_;
  Peer& peer_;
  Box* box_ = nullptr;
  std::optional<Error> broken_;
  const std::uint32_t credits_;
  std::uint32_t at_ = 0;         // the slot of the oldest message
  std::uint64_t taken_ = 0;      // messages popped
  std::byte* pulled_ = nullptr;  // the oldest message, in scratch memory
  bool is_reading_ = false;
};

}  // namespace hocket::transport::shm
