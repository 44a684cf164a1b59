// SPDX-License-Identifier: Apache-2.0
#include "algo/all_reduce/ring.h"

#include "algo/compose.h"
#include "algo/order.h"
#include "algo/phases/ring.h"

namespace hocket::algo::all_reduce::ring {

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, reduce_then_gather_rounds<Ring>(world)};
}

Exchange round(const At& at, std::uint32_t k) {
  const Order order(at);
  const Circle circle{at.topology.world(), order.position(at.me)};
  return order.in_ranks(reduce_then_gather<Ring>(circle, k));
}

}  // namespace hocket::algo::all_reduce::ring
