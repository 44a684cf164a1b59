// SPDX-License-Identifier: Apache-2.0
// All_reduce by halving, then doubling, on a circulant graph: any world size, without folding it to
// a power of two first (Traeff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms",
// 2024).
//
// Cost: 2 ceil(log2 n) steps, 2(n-1)/n m bytes a rank:
//   T = 2 ceil(log2 n) alpha + 2(n-1)/n m beta + (n-1)/n m gamma; an odd n copies m/n more.
// Wins: medium messages, and all sizes where every pair of ranks is equally well linked.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::all_reduce::halving_doubling {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::all_reduce::halving_doubling
