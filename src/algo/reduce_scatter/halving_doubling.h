// SPDX-License-Identifier: Apache-2.0
// Reduce_scatter by halving on a circulant graph, for any world size (Traeff, "Optimal,
// non-pipelined reduce-scatter and allreduce algorithms", 2024). Partial sums live in scratch; the
// last fold goes to the output.
//
// Cost: T = ceil(log2 n) alpha + (n-1)/n m (beta + gamma) for m bytes of input.
// Wins: few bytes over many ranks; all sizes where all pairs are equally well linked.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::reduce_scatter::halving_doubling {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::reduce_scatter::halving_doubling
