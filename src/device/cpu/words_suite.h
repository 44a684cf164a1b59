// SPDX-License-Identifier: Apache-2.0
// Bytes to test arithmetic with: random bits, and now and then an element that is a zero, an
// infinity, a NaN, the smallest or the largest of its kind. Included by tests alone.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "base/prng.h"
#include "base/types.h"

namespace hocket::cpu {

inline std::uint64_t infinity_bits(DataType type) {
  switch (type) {
    case DataType::float64:
      return 0x7FF0'0000'0000'0000;
    case DataType::float32:
      return 0x7F80'0000;
    case DataType::bfloat16:
      return 0x7F80;
    default:
      return 0x7C00;
  }
}

inline void fill(std::span<std::uint64_t> words, Prng& random, DataType type) {
  const std::uint32_t width = 8 * size_of(type);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t infinity = infinity_bits(type);
  const std::array<std::uint64_t, 8> special = {
      0, 1, infinity, infinity - 1, infinity + 1, mask >> 1, (mask >> 1) + 1, mask};
  for (std::uint64_t& word : words) {
    word = random.next();
    const std::uint64_t draw = random.next();
    if (draw % 2 != 0) continue;
    const std::uint32_t shift = static_cast<std::uint32_t>(draw >> 8) % (64 / width) * width;
    const std::uint64_t sign = (draw >> 40 & 1) << (width - 1);
    const std::uint64_t value = (special[(draw >> 48) % special.size()] ^ sign) & mask;
    word = (word & ~(mask << shift)) | (value << shift);
  }
}

}  // namespace hocket::cpu
