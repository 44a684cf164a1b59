// SPDX-License-Identifier: Apache-2.0
// Halving and doubling on a circulant graph, for any size, in ceil(log2 size) steps and the least
// possible bytes (Traeff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms", 2024;
// the gather phase is Bruck's, 1997, without its final rotation).
//
// reduce: before round k a member holds partial sums of the `span(k)` blocks from its own on. It
// sends the upper half, rounded down, to the member that those begin with, and folds what arrives
// into the lower half. An odd span leaves its middle block alone; the first time, that block is
// still in `own` and has to be copied to where partial sums are: only where size is odd.
// Cost of either: T = ceil(log2 n) alpha + (n-1)/n m beta; the peers are 1/2, 1/4, ... of the
// circle away, so many bytes cross the middle of the network in the first round.
#pragma once
#include "algo/circle.h"

namespace hocket::algo {

struct HalvingDoubling {
  static std::uint32_t reduce_rounds(std::uint32_t size, const Sums& sums) {
    return size > 1 ? copies(size, sums) + log2_ceil(size) : 1;
  }
  static Exchange reduce(const Circle& c, std::uint32_t k, const Sums& sums) {
    if (c.size == 1) return copy(c.rank(0), c.blocks(0, 1, sums.own), sums.own, sums.total);
    const std::uint32_t copied = copies(c.size, sums);
    if (k < copied)
      return copy(c.rank(c.me), c.blocks(c.hop(c.size / 2), 1, sums.own), sums.own, sums.partial);
    const std::uint32_t step = k - copied, all = span(c.size, step), low = (all + 1) / 2;
    const bool first = step == 0, last = all == 2;
    const Buffer held = first ? sums.own : sums.partial;
    const Range out = c.blocks(c.hop(low), all - low, held);
    const Range in = c.blocks(c.me, all - low, last ? sums.total : sums.partial);
    return fold(c, {c.hop(low), out, first ? 0 : k}, {c.back(low), in}, held);
  }

  static std::uint32_t gather_rounds(std::uint32_t size) { return log2_ceil(size); }
  static Exchange gather(const Circle& c, std::uint32_t k, Buffer own = Buffer::output) {
    const std::uint32_t all = span(c.size, log2_ceil(c.size) - 1 - k), low = (all + 1) / 2;
    const Range out = c.blocks(c.me, all - low, k == 0 ? own : Buffer::output);
    const Range in = c.blocks(c.hop(low), all - low, Buffer::output);
    return land(c, {c.back(low), out, k}, {c.hop(low), in});
  }

 private:
  /// Blocks that a member still has to do with after `steps` halvings: size / 2^steps, rounded up.
  static std::uint32_t span(std::uint32_t size, std::uint32_t steps) {
    return ((size - 1) >> steps) + 1;
  }
  static std::uint32_t copies(std::uint32_t size, const Sums& sums) {
    return size % 2 == 1 && sums.own != sums.partial ? 1 : 0;
  }
};

}  // namespace hocket::algo
