// SPDX-License-Identifier: Apache-2.0
// A rank's place in a segment: mapped, with its row on the board filled in and its lock held. Who
// gives it up says on the board that it has left; who dies loses the lock instead.
// Threads: a value. Ownership: of the mapping, together with the process's other ranks in it. A
// forked child's copy is not the rank: its end is not told to anybody.
#pragma once
#include <sys/types.h>

#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "transport/shm/node.h"
#include "transport/shm/segment.h"

namespace hocket::transport::shm {

class Place {
 public:
  static Result<Place> take(Node& node, Rank rank, const Shape& shape, File file);
  Place(Place&& other) noexcept
      : lease_(std::move(other.lease_)),
        segment_(other.segment_),
        rank_(other.rank_),
        identity_(other.identity_),
        is_held_(std::exchange(other.is_held_, false)) {}
  Place& operator=(Place&&) = delete;
  ~Place();

  Segment& segment() { return segment_; }
  Rank rank() const { return rank_; }
  const Identity& identity() const { return identity_; }
  int descriptor() const { return lease_.descriptor(); }
  /// Whether this is the process that took it.
  bool is_own() const { return is_held_ && identity_.pid == ::getpid(); }

 private:
  Place(Node::Lease lease, const Shape& shape, Rank rank, const Identity& identity);
  Node::Lease lease_;
  Segment segment_;
  Rank rank_;
  Identity identity_;
  bool is_held_ = true;
};

}  // namespace hocket::transport::shm
