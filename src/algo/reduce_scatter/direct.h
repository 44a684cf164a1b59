// SPDX-License-Identifier: Apache-2.0
// Reduce_scatter in one step: everybody sends each owner its part, and owners add straight into
// their output. Its pattern is push_and_reduce (plan/patterns.h).
//
// Cost: T = alpha + (n-1)/n m (beta + gamma) for m bytes of input, and n-1 messages to pay for.
// Wins: inside a node, where all pairs have links of their own.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::reduce_scatter::direct {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::reduce_scatter::direct
