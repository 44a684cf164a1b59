// SPDX-License-Identifier: Apache-2.0
// Reduce_scatter around a ring: every block is summed up on its way to its owner. Partial sums live
// in scratch; the last fold goes to the output.
//
// Cost: n-1 steps, T = (n-1) alpha + (n-1)/n m (beta + gamma) for m bytes of input.
// Wins: many bytes, where only neighbours are well linked; channels enter and leave a node by
// different ranks.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::reduce_scatter::ring {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::reduce_scatter::ring
