// SPDX-License-Identifier: Apache-2.0
#include "algo/broadcast/binomial.h"

#include "algo/circle.h"
#include "algo/order.h"

namespace hocket::algo::broadcast::binomial {

Shape shape(const Topology& topology) { return {1, 1 + log2_ceil(topology.world())}; }

// Round 0 is the root's own copy. After it, rank `me` in line receives from the rank without its
// lowest one bit, and passes on to the ranks with any lower bit set.
Exchange round(const At& at, std::uint32_t k) {
  const Line line(at);
  const std::uint32_t me = line.me();
  const Range all{.count = 1};
  Exchange x;
  if (k == 0) return me == 0 ? copy(at.me, all, Buffer::input, Buffer::output) : x;
  const std::uint32_t reach = 1u << (log2_ceil(line.size()) - k);
  if (me % reach != 0) return x;
  if (me % (2 * reach) != 0) {
    x.from = line.rank(me - reach);
    x.in = all;
  } else if (me + reach < line.size()) {
    x.to = line.rank(me + reach);
    x.out = all;
    x.out.buffer = me == 0 ? Buffer::input : Buffer::output;
    x.after = me == 0 ? 0 : k;
  }
  return x;
}

}  // namespace hocket::algo::broadcast::binomial
