// SPDX-License-Identifier: Apache-2.0
// Broadcast down a binomial tree: in each round every rank that has the data sends it as far as is
// left, half as far each time, so that the last rounds stay inside nodes.
//
// Cost: T = ceil(log2 n) (alpha + m beta), all of it through the root's link.
// Wins: few bytes.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::broadcast::binomial {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::broadcast::binomial
