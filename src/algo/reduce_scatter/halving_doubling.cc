// SPDX-License-Identifier: Apache-2.0
#include "algo/reduce_scatter/halving_doubling.h"

#include "algo/phases/halving_doubling.h"

namespace hocket::algo::reduce_scatter::halving_doubling {

namespace {

constexpr Sums kSums{.partial = Buffer::scratch};

}  // namespace

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, HalvingDoubling::reduce_rounds(world, kSums)};
}

Exchange round(const At& at, std::uint32_t k) {
  return HalvingDoubling::reduce(everyone(at), k, kSums);
}

}  // namespace hocket::algo::reduce_scatter::halving_doubling
