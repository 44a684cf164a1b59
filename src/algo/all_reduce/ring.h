// SPDX-License-Identifier: Apache-2.0
// All_reduce around a ring: every block is summed up on its way around, then goes around once more
// (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// 2009).
//
// Cost: 2(n-1) steps, 2(n-1)/n m bytes over each link:
//   T = 2(n-1) alpha + 2(n-1)/n m beta + (n-1)/n m gamma.
// Wins: many bytes over few ranks, or over links of which only those between neighbours are good;
// each node is entered and left by one rank a channel, a different one for each channel.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::all_reduce::ring {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::all_reduce::ring
