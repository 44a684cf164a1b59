// SPDX-License-Identifier: Apache-2.0
// Proves a plan: not one run of it but all, whatever the timing, the number of credits and the size
// of slices. Executors rely on what is proven here:
//
//   1. contributions: every rank ends with the right operands, each added once, in the order that
//      the row claims; all ranks of an all_reduce with the same bits;
//   2. capacity one: links that hold one message suffice, so no timing can deadlock;
//   3. no race: no write reaches a block that is being sent, read or written. So a send needs no
//      completion wait before the op's end, and a landing nothing but that its target has entered;
//   4. agreement: both ends of a message agree on size, staging and landing.
//
// It also checks the claims of the row on this topology: shape, depth, scratch, fold order,
// pattern. Channels move different pieces, which share neither memory nor links, so each is proven
// by itself (replay.h). Worlds of at most 64 ranks: the rest is the algorithm's arithmetic.
//
// Threads: one a Prover. Ownership: it keeps its memory for the next plan. Failure: a plan that is
// wrong is an Error that names algorithm, topology, rank and round.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "plan/replay.h"

namespace hocket {

inline constexpr std::uint32_t kMostProvenRanks = 64;

struct Proof {
  std::uint64_t exchanges = 0;  ///< rounds of all ranks, channels and pieces
  std::uint64_t messages = 0;
  std::uint64_t entries = 0;  ///< landings whose sender cannot know that the receiver has entered
  bool uses_scratch = false;
};

class Prover {
 public:
  /// `requests`: one a rank where they differ (send_recv); else the plan's is everyone's. Fails
  /// with invalid_argument on a plan that is wrong, or too large to be proven.
  Result<Proof> prove(const Plan& plan, std::span<const Request> requests = {});

 private:
  std::vector<Request> requests_;
  proof::Rounds rounds_;
  proof::Replay replay_;
};

}  // namespace hocket
