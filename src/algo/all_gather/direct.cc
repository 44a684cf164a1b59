// SPDX-License-Identifier: Apache-2.0
#include "algo/all_gather/direct.h"

#include "algo/compose.h"
#include "algo/phases/direct.h"

namespace hocket::algo::all_gather::direct {

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, copy_then_gather_rounds<Direct>(world)};
}

Exchange round(const At& at, std::uint32_t k) { return copy_then_gather<Direct>(everyone(at), k); }

}  // namespace hocket::algo::all_gather::direct
