// SPDX-License-Identifier: Apache-2.0
// What a plan costs under the link model of topo/costs.h: its own rounds as a recurrence of sums
// and maxima (recurrence.h), followed for as few ranks as stand for all. Nobody writes a cost
// formula.
//
// With one channel, one piece, one slice per message and two credits or more the price equals the
// simulator's events to the picosecond, all ranks entering at once, unless two messages reach one
// port at one instant. Ranks that do the same are followed once: one rank, or the ranks of one
// node. Where ranks differ (a chain, uneven blocks or nodes) all are followed, as long as that
// takes no more than `most_messages`. Anything else is an estimate, and the price says why.
// Threads: pure. Failure: none. Cost: some 200 ns a message followed, O(rounds).
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket {

struct Price {
  Picoseconds time = 0;  ///< from all ranks' entry to the last rank's end
  /// The longest chain of causes by kind: latency, bytes on links, folds and copies, handing over
  /// and taking. They add up to `time`, to a picosecond each where it was extrapolated.
  Picoseconds alpha = 0, beta = 0, gamma = 0, cpu = 0;
  bool exact = true;
  const char* why = "";  ///< why it is exact, or an estimate; never null
};

inline constexpr std::uint64_t kMessagesFollowed = std::uint64_t{1} << 17;

/// `most_messages`: how much work pricing may be; fewer make prices of long plans estimates.
Price price(const Plan& plan, const Costs& costs, std::uint64_t most_messages = kMessagesFollowed);

}  // namespace hocket
