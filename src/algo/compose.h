// SPDX-License-Identifier: Apache-2.0
// Algorithms that are phases in a row. Family is a pair of phases: Ring, HalvingDoubling, Direct.
#pragma once
#include "algo/circle.h"

namespace hocket::algo {

/// All_reduce: each member reduces its share, then gathers everyone's.
template <class Family>
std::uint32_t reduce_then_gather_rounds(std::uint32_t size) {
  return Family::reduce_rounds(size, Sums{}) + Family::gather_rounds(size);
}
template <class Family>
Exchange reduce_then_gather(const Circle& c, std::uint32_t k) {
  Phases p{k};
  Exchange x = p.take(Family::reduce_rounds(c.size, Sums{})) ? Family::reduce(c, p.k, Sums{})
               : p.take(Family::gather_rounds(c.size))       ? Family::gather(c, p.k)
                                                             : Exchange{};
  p.place(x);
  return x;
}

/// All_gather: the own block moves to the output, then everyone gathers.
template <class Family>
std::uint32_t copy_then_gather_rounds(std::uint32_t size) {
  return 1 + Family::gather_rounds(size);
}
template <class Family>
Exchange copy_then_gather(const Circle& c, std::uint32_t k) {
  Phases p{k};
  const Range own = c.blocks(c.me, 1, Buffer::input);
  Exchange x = p.take(1) ? copy(c.rank(c.me), own, Buffer::input, Buffer::output)
               : p.take(Family::gather_rounds(c.size)) ? Family::gather(c, p.k, Buffer::input)
                                                       : Exchange{};
  p.place(x);
  return x;
}

}  // namespace hocket::algo
