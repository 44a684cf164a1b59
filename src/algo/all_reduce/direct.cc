// SPDX-License-Identifier: Apache-2.0
#include "algo/all_reduce/direct.h"

#include "algo/compose.h"
#include "algo/phases/direct.h"

namespace hocket::algo::all_reduce::direct {

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, reduce_then_gather_rounds<Direct>(world)};
}

Exchange round(const At& at, std::uint32_t k) {
  return reduce_then_gather<Direct>(everyone(at), k);
}

}  // namespace hocket::algo::all_reduce::direct
