// SPDX-License-Identifier: Apache-2.0
// Everybody sends straight to everybody: each owner gets all operands of its share and adds them
// (reduce), or sends its share to all (gather). No send waits for another, so the phase is one
// latency long; member i begins with member i + 1, which spreads the load.
// Cost of either: T = alpha + (n-1)/n m beta, over size - 1 links a member, which all have to be
// there; (n-1) messages of 1/n each, so it loses where a message has a price of its own.
#pragma once
#include "algo/circle.h"

namespace hocket::algo {

struct Direct {
  static std::uint32_t reduce_rounds(std::uint32_t size, const Sums&) {
    return size > 1 ? size - 1 : 1;
  }
  static Exchange reduce(const Circle& c, std::uint32_t k, const Sums& sums) {
    if (c.size == 1) return copy(c.rank(0), c.blocks(0, 1, sums.own), sums.own, sums.total);
    const std::uint32_t to = c.hop(k + 1), from = c.back(k + 1);
    const Range out = c.blocks(to, 1, sums.own), in = c.blocks(c.me, 1, sums.total);
    return fold(c, {to, out}, {from, in}, k == 0 ? sums.own : sums.total);
  }

  static std::uint32_t gather_rounds(std::uint32_t size) { return size - 1; }
  static Exchange gather(const Circle& c, std::uint32_t k, Buffer own = Buffer::output) {
    const std::uint32_t to = c.hop(k + 1), from = c.back(k + 1);
    return land(c, {to, c.blocks(c.me, 1, own)}, {from, c.blocks(from, 1, Buffer::output)});
  }
};

}  // namespace hocket::algo
