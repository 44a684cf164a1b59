// SPDX-License-Identifier: Apache-2.0
// All_gather around a ring: every block goes around once.
//
// Cost: n-1 steps, T = (n-1) alpha + (n-1)/n m beta for m bytes gathered.
// Wins: many bytes, where only neighbours are well linked; channels enter and leave a node by
// different ranks.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::all_gather::ring {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::all_gather::ring
