// SPDX-License-Identifier: Apache-2.0
// All_gather by doubling: what a rank holds doubles each round (Bruck, Ho, Kipnis, Upfal,
// Weathersby, "Efficient algorithms for all-to-all communications in multiport message-passing
// systems", 1997). Blocks lie at their own places throughout, so Bruck's final rotation is not
// needed.
//
// Cost: T = ceil(log2 n) alpha + (n-1)/n m beta for m bytes gathered.
// Wins: few bytes over many ranks.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::all_gather::halving_doubling {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::all_gather::halving_doubling
