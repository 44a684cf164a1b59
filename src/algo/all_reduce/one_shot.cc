// SPDX-License-Identifier: Apache-2.0
#include "algo/all_reduce/one_shot.h"

#include "plan/patterns.h"

namespace hocket::algo::all_reduce::one_shot {

Shape shape(const Topology& topology) { return exchange_and_reduce::shape(topology); }

Exchange round(const At& at, std::uint32_t k) { return exchange_and_reduce::round(at, k); }

}  // namespace hocket::algo::all_reduce::one_shot
