// SPDX-License-Identifier: Apache-2.0
// Reduce along a chain through all ranks to the root: two rounds, receive and add, pass on. Ranks
// in between add into scratch. Pieces make it a pipeline; channels pass through each node in orders
// of their own.
//
// Cost in p pieces: T = (n-2+p) (alpha + m/p (beta + gamma)).
// Wins: many bytes over few ranks.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::reduce::chain {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::reduce::chain
