// SPDX-License-Identifier: Apache-2.0
// What `hocket prove` proves of an algorithm: every plan of these lists.
//
//   topologies   every world 1..max_ranks in equal nodes of every size that divides it, and 200
//                uneven ones, drawn from a fixed seed
//   roots        every rank, of a broadcast, reduce or send_recv
//   cuts         to 16 ranks 1..4 channels x 1..3 pieces; above {1 channel, 1 piece} and {4, 3}
//   in place     no and, where the row claims it, yes
//
// In a send_recv "of root r" ranks i and j are a pair if i + j = r modulo the world, so that all
// roots together have every pair once (who is its own partner keeps its own data); "in place" turns
// the pairs around.
// A row has to fit every topology; one named two_level has to fit equal nodes, more than one and of
// more than one rank each, and no others.
// Threads: a Prover each. Cost: see docs; the work of a topology grows with its world squared.
#pragma once
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "plan/prove.h"

namespace hocket {

struct ProofTally {
  std::uint64_t plans = 0, exchanges = 0, messages = 0, entries = 0;
  bool uses_scratch = false;
  ProofTally& operator+=(const ProofTally& other);
};

/// In order of their worlds; max_ranks <= kMostProvenRanks.
std::vector<Topology> topologies_to_prove(std::uint32_t max_ranks);

bool should_fit(const Algorithm& algorithm, const Topology& topology);

/// Plans and exchanges that the lists above have on one topology, by multiplication alone.
ProofTally plans_to_prove(const Algorithm& algorithm, const Topology& topology);

/// Proves them. Fails with the first that is wrong, or if the row fits what it should not or the
/// reverse.
Result<ProofTally> prove_on(Prover& prover, const Algorithm& algorithm, const Topology& topology);

}  // namespace hocket
