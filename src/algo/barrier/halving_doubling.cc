// SPDX-License-Identifier: Apache-2.0
#include "algo/barrier/halving_doubling.h"

#include "algo/circle.h"

namespace hocket::algo::barrier::halving_doubling {

Shape shape(const Topology& topology) { return {1, log2_ceil(topology.world())}; }

Exchange round(const At& at, std::uint32_t k) {
  const Circle c = everyone(at);
  const std::uint32_t reach = 1u << k;
  Exchange x;
  x.to = c.rank(c.hop(reach));
  x.from = c.rank(c.back(reach));
  x.staged = true;
  x.after = k;
  return x;
}

}  // namespace hocket::algo::barrier::halving_doubling
