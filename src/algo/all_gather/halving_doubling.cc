// SPDX-License-Identifier: Apache-2.0
#include "algo/all_gather/halving_doubling.h"

#include "algo/compose.h"
#include "algo/phases/halving_doubling.h"

namespace hocket::algo::all_gather::halving_doubling {

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, copy_then_gather_rounds<HalvingDoubling>(world)};
}

Exchange round(const At& at, std::uint32_t k) {
  return copy_then_gather<HalvingDoubling>(everyone(at), k);
}

}  // namespace hocket::algo::all_gather::halving_doubling
