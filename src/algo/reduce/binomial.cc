// SPDX-License-Identifier: Apache-2.0
#include "algo/reduce/binomial.h"

#include "algo/circle.h"
#include "algo/order.h"

namespace hocket::algo::reduce::binomial {

Shape shape(const Topology& topology) {
  return {1, topology.world() > 1 ? log2_ceil(topology.world()) : 1};
}

// The mirror of the broadcast: rank `me` in line receives from the ranks with any bit set below its
// lowest one, nearest first, and then sends to the rank without that one.
Exchange round(const At& at, std::uint32_t k) {
  const Line line(at);
  const std::uint32_t me = line.me(), reach = 1u << k;
  const bool root = me == 0, leaf = me % 2 == 1 || me + 1 == line.size();
  const Range all{.count = 1};
  if (root && leaf) return copy(at.me, all, Buffer::input, Buffer::output);
  Exchange x;
  if (me % reach != 0) return x;
  if (me % (2 * reach) != 0) {
    x.to = line.rank(me - reach);
    x.out = all;
    x.out.buffer = leaf ? Buffer::input : Buffer::scratch;
    x.staged = true;
    x.after = leaf ? 0 : k;
  } else if (me + reach < line.size()) {
    const Buffer sums = root ? Buffer::output : Buffer::scratch;
    x.from = line.rank(me + reach);
    x.in = all;
    x.in.buffer = sums;
    x.fold = k == 0 ? Fold::input : fold_with(sums);
  }
  return x;
}

}  // namespace hocket::algo::reduce::binomial
