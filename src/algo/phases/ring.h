// SPDX-License-Identifier: Apache-2.0
// The ring as two phases: every block goes once around, being added to on its way to its owner
// (reduce), or from its owner to all (gather); each member only ever talks to its two neighbours.
// Cost of either: size - 1 steps of one member's share, (size - 1) / size of the bytes over each
// link: T = (n-1) alpha + (n-1)/n m beta, all links of the ring busy all the time.
#pragma once
#include "algo/circle.h"

namespace hocket::algo {

struct Ring {
  static std::uint32_t reduce_rounds(std::uint32_t size, const Sums&) {
    return size > 1 ? size - 1 : 1;
  }
  static Exchange reduce(const Circle& c, std::uint32_t k, const Sums& sums) {
    if (c.size == 1) return copy(c.rank(0), c.blocks(0, 1, sums.own), sums.own, sums.total);
    const bool first = k == 0, last = k + 2 == c.size;
    const Range out = c.blocks(c.back(k + 1), 1, first ? sums.own : sums.partial);
    const Range in = c.blocks(c.back(k + 2), 1, last ? sums.total : sums.partial);
    return fold(c, {c.hop(1), out, k}, {c.back(1), in}, sums.own);
  }

  static std::uint32_t gather_rounds(std::uint32_t size) { return size - 1; }
  static Exchange gather(const Circle& c, std::uint32_t k, Buffer own = Buffer::output) {
    const Range out = c.blocks(c.back(k), 1, k == 0 ? own : Buffer::output);
    const Range in = c.blocks(c.back(k + 1), 1, Buffer::output);
    return land(c, {c.hop(1), out, k}, {c.back(1), in});
  }
};

}  // namespace hocket::algo
