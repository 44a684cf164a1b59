// SPDX-License-Identifier: Apache-2.0
// For tests: what the busiest rank of a plan sends, to hold against the cost that its header
// states.
#pragma once
#include <algorithm>
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo {

struct Traffic {
  std::uint32_t messages = 0, blocks = 0;
  std::uint32_t abroad = 0;  ///< blocks sent to other nodes
  std::uint32_t folds = 0;   ///< blocks added
  std::uint32_t copies = 0;  ///< blocks copied locally
  bool operator==(const Traffic&) const = default;
};

inline Traffic busiest(const Algorithm& algorithm, const Topology& topology,
                       const Request& request = {}) {
  Traffic most;
  for (std::uint32_t r = 0; r < topology.world(); ++r) {
    Traffic mine;
    const Rank me{r};
    for (std::uint32_t k = 0; k < algorithm.shape(topology).rounds; ++k) {
      const Exchange x = algorithm.round({topology, request, me, {}}, k);
      const bool local = x.to == me;
      if (x.from != kNobody && x.fold != Fold::none) mine.folds += x.in.count;
      if (local && x.fold == Fold::none) mine.copies += x.out.count;
      if (x.to == kNobody || local) continue;
      ++mine.messages;
      mine.blocks += x.out.count;
      if (topology.between(me, x.to) == LinkClass::rail) mine.abroad += x.out.count;
    }
    most.messages = std::max(most.messages, mine.messages);
    most.blocks = std::max(most.blocks, mine.blocks);
    most.abroad = std::max(most.abroad, mine.abroad);
    most.folds = std::max(most.folds, mine.folds);
    most.copies = std::max(most.copies, mine.copies);
  }
  return most;
}

}  // namespace hocket::algo
