// SPDX-License-Identifier: Apache-2.0
// Barrier by signals whose reach doubles each round (Hensgen, Finkel, Manber, "Two algorithms for
// barrier synchronization", 1988: the dissemination barrier). It is the all_gather of the same name
// with nothing to gather.
//
// Cost: T = ceil(log2 n) alpha.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::barrier::halving_doubling {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::barrier::halving_doubling
