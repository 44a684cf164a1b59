// SPDX-License-Identifier: Apache-2.0
#include "algo/alltoall/direct.h"

#include "algo/circle.h"

namespace hocket::algo::alltoall::direct {

Shape shape(const Topology& topology) { return {topology.world(), topology.world()}; }

Exchange round(const At& at, std::uint32_t k) {
  const Circle c = everyone(at);
  if (k == 0) return copy(at.me, c.blocks(c.me, 1, Buffer::input), Buffer::input, Buffer::output);
  const std::uint32_t to = c.hop(k), from = c.back(k);
  Exchange x =
      land(c, {to, c.blocks(to, 1, Buffer::input)}, {from, c.blocks(from, 1, Buffer::output)});
  x.lands = c.me;
  return x;
}

}  // namespace hocket::algo::alltoall::direct
