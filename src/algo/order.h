// SPDX-License-Identifier: Apache-2.0
// The order in which a channel's ring or chain passes through the ranks: node after node, and
// within a node rotated by the channel, so that each channel enters and leaves a node by ranks of
// its own and all NICs carry their share. A position is an index into this order.
// Threads, ownership: a value, borrows the topology. Cost: two divisions a rank; none where nodes
// have one rank or the channel is the first.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo {

class Order {
 public:
  explicit Order(const At& at) : topology_(at.topology), turn_(at.channel.value) {}

  std::uint32_t position(Rank rank) const { return turned(rank, true).value; }
  Rank rank(std::uint32_t position) const { return turned(Rank{position}, false); }

  /// An exchange in terms of positions, where member and owned block are both a position, in terms
  /// of ranks. Of one block each way at most.
  Exchange in_ranks(Exchange x) const;

 private:
  Rank turned(Rank rank, bool forth) const {
    if (turn_ == 0) return rank;
    const Seat seat = topology_.seat(rank);
    const std::uint32_t turn = turn_ % seat.ranks;
    const std::uint32_t index = seat.index + (forth ? turn : seat.ranks - turn);
    return Rank{seat.first.value + index % seat.ranks};
  }

  const Topology& topology_;
  std::uint32_t turn_;
};

inline Exchange Order::in_ranks(Exchange x) const {
  if (turn_ == 0) return x;
  if (x.to != kNobody) x.to = rank(x.to.value);
  if (x.from != kNobody) x.from = rank(x.from.value);
  x.out.first = rank(x.out.first).value;
  x.in.first = rank(x.in.first).value;
  x.lands = rank(x.lands).value;
  return x;
}

/// Ranks in a row from the request's root on, seen by one of them: chains and binomial trees.
class Line {
 public:
  explicit Line(const At& at)
      : order_(at), size_(at.topology.world()), root_(order_.position(at.request.root)) {
    const std::uint32_t position = order_.position(at.me);
    me_ = position >= root_ ? position - root_ : position + size_ - root_;
  }
  std::uint32_t size() const { return size_; }
  std::uint32_t me() const { return me_; }  ///< 0: the root
  Rank rank(std::uint32_t i) const {
    return order_.rank(i + root_ < size_ ? i + root_ : i + root_ - size_);
  }

 private:
  Order order_;
  std::uint32_t size_, root_, me_;
};

}  // namespace hocket::algo
