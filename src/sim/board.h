// SPDX-License-Identifier: Apache-2.0
// What the ranks of the simulated communicator know of one another: who is dead, who has entered
// which op, and the first failure. Written at once; a rank hears of a failure one latency between
// nodes after it was published (SimRank::failure keeps to that).
// Threads: one. Cost: constant, but `missing` looks at every rank when somebody has entered since
// it was last asked about the op.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "world/membership.h"

namespace hocket::sim {

class Board {
 public:
  explicit Board(std::uint32_t world) : entered_(world) {}

  OpSeq entered(Rank rank) const { return entered_[rank.value]; }
  void enter(Rank rank, OpSeq op) {
    entered_[rank.value] = op;
    counted_ = OpSeq{};
  }
  const world::Missing& missing(OpSeq op);

  /// The first to publish wins; says whether `mine` was the first.
  bool publish(const world::Failure& mine, Picoseconds now);
  const std::optional<world::Failure>& failure() const { return failure_; }
  Picoseconds published() const { return published_; }

  /// The rank does nothing from now on, and nobody knows it yet.
  void crash(Rank rank) { crashed_.push_back(rank); }
  /// Everybody knows that the rank is gone: it crashed, or it left, which is no failure.
  void know_gone(Rank rank) { gone_.push_back(rank); }
  bool crashed(Rank rank) const { return contains(crashed_, rank); }
  bool gone(Rank rank) const { return contains(gone_, rank); }

 private:
  static bool contains(const std::vector<Rank>& ranks, Rank rank) {
    return !ranks.empty() && std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }

  std::vector<OpSeq> entered_;
  std::vector<Rank> crashed_, gone_;
  std::optional<world::Failure> failure_;
  Picoseconds published_ = 0;
  OpSeq counted_;  // the op that missing_ is about; 0: none
  world::Missing missing_;
};

}  // namespace hocket::sim
