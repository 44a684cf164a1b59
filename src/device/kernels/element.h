// SPDX-License-Identifier: Apache-2.0
// How a word of 8 bytes is numbers: what a swap does to its words. Kernels move words and never
// ask what is in them. A word that is not full carries zeros, and nobody looks at what becomes of
// those.
//
//   before(word)   what a rank does to its operand: avg of floats divides here, before they are
//                  added, so that the sum cannot overflow
//   fold(a, b)     combines two
//   after(word)    what is done to the result: avg of integers divides here
//
// Threads, ownership: values. Failure: none.
#pragma once
#include <cstdint>

#include "device/kernels/number.h"
#include "world/swap.h"

namespace hocket::kernels {

/// Of a swap that stores.
struct Verbatim {
  HOCKET_DEVICE Verbatim(DataType, ReduceOp, std::uint32_t) {}
  HOCKET_DEVICE static std::uint32_t size(DataType type) { return size_of(type); }
  HOCKET_DEVICE std::uint64_t before(std::uint64_t word) const { return word; }
};

template <DataType type, ReduceOp op>
class Element {
 public:
  /// Bytes of an element, which a kernel that folds knows when it is compiled.
  HOCKET_DEVICE static std::uint32_t size(DataType) {
    constexpr std::uint32_t kSize = size_of(type);
    return kSize;
  }

  /// Of this type and op, which are known here, among `world` ranks.
  HOCKET_DEVICE Element(DataType, ReduceOp, std::uint32_t world) : divide_(world) {}

  HOCKET_DEVICE std::uint64_t before(std::uint64_t word) const {
    if constexpr (op == ReduceOp::avg && is_float(type)) {
      return map([this](Number a, Number) { return divide_(a); }, word, word);
    } else {
      return word;
    }
  }
  HOCKET_DEVICE std::uint64_t fold(std::uint64_t a, std::uint64_t b) const {
    return map([](Number x, Number y) { return kernels::fold<op>(x, y); }, a, b);
  }
  HOCKET_DEVICE std::uint64_t after(std::uint64_t word) const {
    if constexpr (op == ReduceOp::avg && !is_float(type)) {
      return map([this](Number a, Number) { return divide_(a); }, word, word);
    } else {
      return word;
    }
  }

 private:
  using Number = NumberOf<type>;
  using Bits = BitsOf<Number>;
  struct None {
    HOCKET_DEVICE explicit None(std::uint32_t) {}
  };

  /// By shifts, so that a word never leaves its register.
  template <class F>
  HOCKET_DEVICE static std::uint64_t map(const F& f, std::uint64_t a, std::uint64_t b) {
    constexpr std::uint32_t kWidth = 8 * sizeof(Number);
    std::uint64_t result = 0;
    for (std::uint32_t shift = 0; shift < 64; shift += kWidth) {
      const auto x = std::bit_cast<Number>(static_cast<Bits>(a >> shift));
      const auto y = std::bit_cast<Number>(static_cast<Bits>(b >> shift));
      result |= std::uint64_t{std::bit_cast<Bits>(f(x, y))} << shift;
    }
    return result;
  }

  [[no_unique_address]] std::conditional_t<op == ReduceOp::avg, Divider<Number>, None> divide_;
};

}  // namespace hocket::kernels
