// SPDX-License-Identifier: Apache-2.0
// What reductions do to numbers, one at a time. This is the definition, under the contract of
// device/cpu/fold.h: kernels, their twins and the CPU's reference are compiled from it, the CPU's
// vector kernels are tested against it.
//
// A number is stored as T and computed in Wide<T>, which is float for the 16-bit types and T for
// all others. Compile without contraction (-ffp-contract=off, -fmad=false): a multiply and an add
// that become one rounding would make bits depend on the processor.
//
// Threads: pure functions. Failure: none.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "base/types.h"
#include "device/kernels/half.h"

namespace hocket::kernels {

template <DataType type>
using NumberOf = std::tuple_element_t<
    static_cast<std::size_t>(type),
    std::tuple<float, double, Bfloat16, Float16, std::int32_t, std::int64_t, std::uint8_t>>;

/// The unsigned integer of T's size.
template <class T>
using BitsOf =
    std::tuple_element_t<std::countr_zero(sizeof(T)),
                         std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;

template <class T>
HOCKET_DEVICE inline T widen(T value) {
  return value;
}
HOCKET_DEVICE inline float widen(Bfloat16 value) { return to_float(value); }
HOCKET_DEVICE inline float widen(Float16 value) {
#ifdef __CUDA_ARCH__
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
  return wide;
#else
  return to_float(value);
#endif
}

template <class T>
using Wide = decltype(widen(T{}));

template <std::floating_point T>
HOCKET_DEVICE inline T canonical_nan() {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(~BitsOf<T>{} >> 1));
}

/// Rounds once; every NaN becomes the canonical one.
template <class T>
HOCKET_DEVICE inline T narrow(Wide<T> value) {
  if constexpr (std::integral<T>) {
    return value;
  } else {
    const Wide<T> result = value == value ? value : canonical_nan<Wide<T>>();
    if constexpr (std::same_as<T, Wide<T>>) {
      return result;
    } else {
      return round_to<T>(result);
    }
  }
}

#ifdef __CUDA_ARCH__
// The device's own conversions give the same bits, those of the canonical NaN included.
template <>
HOCKET_DEVICE inline Bfloat16 narrow<Bfloat16>(float value) {
  Bfloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
template <>
HOCKET_DEVICE inline Float16 narrow<Float16>(float value) {
  Float16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
#endif

// Integers wrap: they are added and multiplied as unsigned 64 bits, since signed overflow is
// undefined and small unsigned types are promoted to int.
template <class T>
HOCKET_DEVICE inline T sum(T a, T b) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
HOCKET_DEVICE inline T product(T a, T b) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

// Floats that are equal differ in the sign of zero at most: OR and AND of their bits choose it.
template <class T>
HOCKET_DEVICE inline T least(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (a != a || b != b) return canonical_nan<T>();
    if (a == b) return std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) | std::bit_cast<BitsOf<T>>(b));
  }
  return b < a ? b : a;
}

template <class T>
HOCKET_DEVICE inline T greatest(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (a != a || b != b) return canonical_nan<T>();
    if (a == b) return std::bit_cast<T>(std::bit_cast<BitsOf<T>>(a) & std::bit_cast<BitsOf<T>>(b));
  }
  return a < b ? b : a;
}

/// a op b; avg folds as sum.
template <ReduceOp op, class T>
HOCKET_DEVICE inline T fold(T a, T b) {
  const Wide<T> x = widen(a), y = widen(b);
  if constexpr (op == ReduceOp::prod) {
    return narrow<T>(product(x, y));
  } else if constexpr (op == ReduceOp::min) {
    return narrow<T>(least(x, y));
  } else if constexpr (op == ReduceOp::max) {
    return narrow<T>(greatest(x, y));
  } else {
    return narrow<T>(sum(x, y));
  }
}

/// Divides by the number of ranks, as avg does: floats are multiplied by its rounded inverse,
/// integers divided toward zero.
template <class T>
class Divider {
 public:
  HOCKET_DEVICE explicit Divider(std::uint32_t ranks) {
    if constexpr (std::floating_point<Wide<T>>) {
      by_ = Wide<T>{1} / static_cast<Wide<T>>(ranks);
    } else {
      by_ = ranks;
    }
  }

  HOCKET_DEVICE T operator()(T value) const {
    if constexpr (std::floating_point<Wide<T>>) {
      return narrow<T>(widen(value) * by_);
    } else {
      using Magnitude = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      const auto bits = static_cast<Magnitude>(value);
      bool is_negative = false;
      if constexpr (std::signed_integral<T>) is_negative = value < 0;
      const Magnitude quotient = (is_negative ? 0 - bits : bits) / by_;
      return static_cast<T>(is_negative ? 0 - quotient : quotient);
    }
  }

 private:
  std::conditional_t<std::floating_point<Wide<T>>, Wide<T>, std::uint32_t> by_;
};

}  // namespace hocket::kernels
