// SPDX-License-Identifier: Apache-2.0
// The sending end of a link. A small message travels in its slot, a middling one is copied into
// staging memory of the segment, a large one stays where it is and only its address is sent, if the
// receiver has said that it can read it; else it is staged as well.
//
// When the communicator fails or its owner leaves, the link closes: nobody starts to read a source
// after that, and ranks of the same process have stopped, so that its owner may free it.
// Threads: whoever holds the baton. Ownership: borrows peers and box. Failure: peer_lost when the
// receiver is gone or the link closed; out_of_memory for staging.
// Cost: a small write stores to one cache line; credits are looked up when the known ones are used.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "transport/shm/peers.h"
#include "transport/shm/segment.h"

namespace hocket::transport::shm {

/// The staging memory of one link: a cell for each slot, and stages of a slice for what is larger
/// than a cell. Of those, what was given back last is taken first: a link in step stays within one
/// stage, and in the cache.
class Stages {
 public:
  /// Offset of memory for the message that goes into `slot`.
  Result<std::uint64_t> take(Segment& segment, std::uint32_t slot, std::uint64_t size);
  /// Of the message that went into `slot`, if it has a stage.
  void give_back(std::uint32_t slot);

 private:
  std::uint64_t cells_ = 0;          // offset; 0: none yet
  std::vector<std::uint64_t> free_;  // offsets
  std::vector<std::uint64_t> held_;  // by slot; 0: none
};

class Outgoing {
 public:
  Outgoing(Peers& peers, Rank to, Result<Box*> box);
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  /// A message may be written, or will be refused with an error.
  bool ready();
  Result<void> write(ConstBytes source);

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
  /// Copies it into a stage; its offset.
  Result<std::uint64_t> stage(ConstBytes source);
  void give_back_stages();
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
  std::uint64_t given_back_ = 0;     // messages whose stages were given back
  Reach reach_ = Reach::unknown;
  Stages stages_;
};

}  // namespace hocket::transport::shm
