// SPDX-License-Identifier: Apache-2.0
#include "algo/reduce/chain.h"

#include "algo/circle.h"
#include "algo/order.h"

namespace hocket::algo::reduce::chain {

Shape shape(const Topology& topology) { return {1, topology.world() > 1 ? 2u : 1u}; }

Exchange round(const At& at, std::uint32_t k) {
  const Line line(at);
  const bool root = line.me() == 0, last = line.me() + 1 == line.size();
  const Range all{.count = 1};
  if (root && last) return copy(at.me, all, Buffer::input, Buffer::output);
  Exchange x;
  if (k == 0 && !last) {
    x.from = line.rank(line.me() + 1);
    x.in = all;
    x.in.buffer = root ? Buffer::output : Buffer::scratch;
    x.fold = Fold::input;
  }
  if (k == 1 && !root) {
    x.to = line.rank(line.me() - 1);
    x.out = all;
    x.out.buffer = last ? Buffer::input : Buffer::scratch;
    x.staged = true;
    x.after = last ? 0 : 1;
  }
  return x;
}

}  // namespace hocket::algo::reduce::chain
