// SPDX-License-Identifier: Apache-2.0
// All_reduce in two steps: everybody sends each owner its part, owners add and send the sums to
// all. Its pattern is push_reduce_push (plan/patterns.h).
//
// Cost: 2 steps, 2(n-1)/n m bytes a rank, spread over n-1 links:
//   T = 2 alpha + 2(n-1)/n m beta + (n-1)/n m gamma, and 2(n-1) messages to pay for.
// Wins: inside a node, where all pairs have links of their own; from where one_shot's n-fold bytes
// weigh more than a second latency.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::all_reduce::direct {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::all_reduce::direct
