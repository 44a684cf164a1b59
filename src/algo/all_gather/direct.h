// SPDX-License-Identifier: Apache-2.0
// All_gather in one step: everybody sends its block to all. Its pattern is push_to_all
// (plan/patterns.h).
//
// Cost: T = alpha + (n-1)/n m beta for m bytes gathered, and n-1 messages to pay for.
// Wins: inside a node, where all pairs have links of their own.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::all_gather::direct {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::all_gather::direct
