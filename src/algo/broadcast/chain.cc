// SPDX-License-Identifier: Apache-2.0
#include "algo/broadcast/chain.h"

#include "algo/circle.h"
#include "algo/order.h"

namespace hocket::algo::broadcast::chain {

Shape shape(const Topology& topology) { return {1, topology.world() > 1 ? 2u : 1u}; }

Exchange round(const At& at, std::uint32_t k) {
  const Line line(at);
  const bool root = line.me() == 0;
  const Range all{.count = 1};
  if (k == 0 && root) return copy(at.me, all, Buffer::input, Buffer::output);
  Exchange x;
  if (k == 0) {
    x.from = line.rank(line.me() - 1);
    x.in = all;
  } else if (line.me() + 1 < line.size()) {
    x.to = line.rank(line.me() + 1);
    x.out = all;
    x.out.buffer = root ? Buffer::input : Buffer::output;
    x.after = root ? 0 : 1;
  }
  return x;
}

}  // namespace hocket::algo::broadcast::chain
