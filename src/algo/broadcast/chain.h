// SPDX-License-Identifier: Apache-2.0
// Broadcast along a chain from the root through all ranks: two rounds, receive and pass on. Pieces
// make it a pipeline; channels pass through each node in orders of their own.
//
// Cost in p pieces: T = (n-2+p) (alpha + m/p beta): for large m every link carries m once.
// Wins: many bytes over few ranks.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::broadcast::chain {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::broadcast::chain
