// SPDX-License-Identifier: Apache-2.0
#include "algo/reduce_scatter/ring.h"

#include "algo/order.h"
#include "algo/phases/ring.h"

namespace hocket::algo::reduce_scatter::ring {

namespace {

constexpr Sums kSums{.partial = Buffer::scratch};

}  // namespace

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, Ring::reduce_rounds(world, kSums)};
}

Exchange round(const At& at, std::uint32_t k) {
  const Order order(at);
  const Circle circle{at.topology.world(), order.position(at.me)};
  return order.in_ranks(Ring::reduce(circle, k, kSums));
}

}  // namespace hocket::algo::reduce_scatter::ring
