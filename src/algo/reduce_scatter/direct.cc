// SPDX-License-Identifier: Apache-2.0
#include "algo/reduce_scatter/direct.h"

#include "algo/phases/direct.h"

namespace hocket::algo::reduce_scatter::direct {

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, Direct::reduce_rounds(world, Sums{})};
}

Exchange round(const At& at, std::uint32_t k) { return Direct::reduce(everyone(at), k, Sums{}); }

}  // namespace hocket::algo::reduce_scatter::direct
