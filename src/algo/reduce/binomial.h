// SPDX-License-Identifier: Apache-2.0
// Reduce up a binomial tree: ranks send twice as far each round, so that the first rounds stay
// inside nodes. Ranks in between add into scratch.
//
// Cost: T = ceil(log2 n) (alpha + m (beta + gamma)), all of it through the root's link.
// Wins: few bytes.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::reduce::binomial {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::reduce::binomial
