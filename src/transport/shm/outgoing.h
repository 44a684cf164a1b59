// SPDX-License-Identifier: Apache-2.0
// The sending end of a link. A small message travels in its slot, a middling one is copied into
// staging memory of the segment, a large one stays where it is and only its address is sent, if the
// receiver has said that it can read it; else it is staged as well.
//
// When the communicator fails or its owner leaves, the link closes: nobody starts to read a source
// after that, and ranks of the same process have stopped, so that its owner may free it.
// Threads: whoever holds the baton. Ownership: borrows peers, stages and box. Failure: peer_lost
// when the receiver is gone or the link closed; out_of_memory for staging. Cost: a small write
// stores to one cache line; credits are looked up when the known ones are used.
#pragma once
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "transport/shm/peers.h"
#include "transport/shm/segment.h"
#include "transport/shm/stages.h"
#include "world/fabric.h"

namespace hocket::transport::shm {

class Outgoing {
 public:
  Outgoing(Peers& peers, Stages& stages, Rank to, Result<Box*> box);
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  /// A message may be written, or will be refused with an error.
  bool ready();
  Result<void> write(const world::Message& message);

  /// Whether a source is still to be read, as far as was known last.
  bool has_sources() const { return addressed_ > popped_; }
  /// Whether all sources have been read, or never will be.
  bool is_drained();
  void close();
  /// After close: waits, until `deadline` at most, for ranks of this process that are reading.
  void wait_for_readers(Instant deadline);

  bool is_listed = false;  ///< the fabric's: among the links with sources

 private:
  bool has_credit() const { return written_ - popped_ < credits_; }
  void look_for_credits();
  bool is_direct();
  template <class Payload>
  void post(Kind kind, std::uint64_t size, const Payload& payload);
  /// Sees to it that the message is in the segment; its offset.
  Result<std::uint64_t> stage(const world::Message& message);
  Error refusal() const;

  Peers& peers_;
  Peer& peer_;
  Box* box_ = nullptr;
  std::optional<Error> broken_;
  bool is_closed_ = false;
  const std::uint32_t credits_;
  const std::uint64_t most_staged_;  // larger messages go by address where that is possible
  std::uint32_t at_ = 0;             // the slot of the next message
  std::uint64_t written_ = 0;        // messages
  std::uint64_t popped_ = 0;         // as last seen
  std::uint64_t addressed_ = 0;      // the last message whose source is read later
  Reach reach_ = Reach::unknown;
  Staging staging_;
};

}  // namespace hocket::transport::shm
