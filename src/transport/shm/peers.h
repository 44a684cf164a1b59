// SPDX-License-Identifier: Apache-2.0
// What one rank knows of the others of its communicator: which are still there, whose memory it can
// read and how. A rank that left said so on the board; a process that died has lost its lock.
// Threads: whoever holds the baton. Ownership: borrows segment and descriptor. Failure: peer_lost,
// naming the peer. Cost: a read is one system call; looking after a peer is one.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "transport/shm/node.h"
#include "transport/shm/segment.h"
#include "world/clock.h"

namespace hocket::transport::shm {

enum class Fate : std::uint8_t { present, left, lost };

struct Peer {
  Rank rank;
  Fate fate = Fate::present;
  bool same_process = false;
  Reach reach = Reach::unknown;  ///< of its memory, from here
  Identity identity;
  Instant verified_at;  ///< when its cookie was last seen
  bool is_gone() const { return fate != Fate::present; }
};

class Peers {
 public:
  struct Self {
    Rank rank;
    Identity identity;
    int descriptor = -1;  ///< of the segment
  };
  /// After all ranks have written their rows.
  Peers(Segment& segment, const Self& self, Node& node);

  Rank me() const { return self_.rank; }
  Segment& segment() { return segment_; }
  const Options& options() const { return options_; }
  world::Clock& clock() { return clock_; }

  /// Stays in place.
  Peer& peer(Rank rank) { return peers_[rank.value]; }
  /// Whether its pointers are valid here.
  bool shares_addresses(const Peer& peer) const {
    return peer.same_process && options_.share_addresses;
  }
  /// Whether its memory can be read from here, directly or through the kernel; tried once.
  bool can_read(Peer& peer);
  /// Copies from `address` in its memory.
  Result<void> read(Peer& peer, std::uint64_t address, Bytes target);

  /// Finds out whether it is still there.
  Fate refresh(Peer& peer);
  /// Looks after the next few ranks in turn. Returns one whose process is newly found dead.
  std::optional<Rank> look_after_some();
  std::optional<Rank> look_after_all();
  /// "rank 3 has left the communicator", "rank 3's process (pid 77) is gone". For one that is gone.
  Error gone(const Peer& peer) const;

 private:
  std::optional<Rank> look_after(std::uint32_t count);
  Segment& segment_;
  const Self self_;
  world::Clock& clock_;
  const Options& options_;
  std::vector<Peer> peers_;
  std::uint32_t next_ = 0;
};

}  // namespace hocket::transport::shm
