// SPDX-License-Identifier: Apache-2.0
// The two 16-bit float formats as plain values, and their conversions to and from float.
//
// g++ 12 has no arithmetic bfloat16 and its _Float16 needs instructions that not every machine has,
// so the formats are bit patterns, widened to float for arithmetic and rounded back once. These are
// the definitions; vector kernels and GPUs' own instructions agree with them bit for bit.
//
// Rounding is to nearest, ties to even. What exceeds the largest finite value becomes infinite,
// denormals are kept, a NaN stays one (quiet, same sign and upper bits, as F16C has it).
//
// Threads: pure. Cost: some 5 ns each: for tests, tools and a few elements, not for buffers.
#pragma once
#include <bit>
#include <cstdint>

#include "device/kernels/kernel.h"

namespace hocket::kernels {

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 mantissa bits; up to 65504, denormals from 2^-24.
struct Float16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(Float16, Float16) = default;
};

/// The upper half of an IEEE 754 binary32: 1 sign, 8 exponent, 7 mantissa bits.
struct Bfloat16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(Bfloat16, Bfloat16) = default;
};

/// Exact: every 16-bit value is a float.
HOCKET_DEVICE constexpr float to_float(Float16 value);
HOCKET_DEVICE constexpr float to_float(Bfloat16 value);

/// Rounds once. `round_to<float>` is the identity, so that generic code needs no special case.
template <class T>
HOCKET_DEVICE constexpr T round_to(float value);

namespace detail {
inline constexpr std::uint32_t kInfinityBits = 0x7F80'0000;
inline constexpr std::uint32_t kQuietBit = 0x0040'0000;

/// `bits` plus half of the last place that survives a right shift by `Dropped`, ties to even.
template <unsigned Dropped>
HOCKET_DEVICE constexpr std::uint32_t rounded(std::uint32_t bits) {
  return bits + ((1u << (Dropped - 1)) - 1) + ((bits >> Dropped) & 1);
}
}  // namespace detail

HOCKET_DEVICE constexpr float to_float(Bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

HOCKET_DEVICE constexpr float to_float(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1Fu;
  const std::uint32_t mantissa = value.bits & 0x3FFu;
  std::uint32_t magnitude = ((exponent + (127 - 15)) << 23) | (mantissa << 13);
  if (exponent == 0) {
    magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);
  } else if (exponent == 0x1F) {
    magnitude = detail::kInfinityBits | (mantissa << 13) | (mantissa ? detail::kQuietBit : 0);
  }
  return std::bit_cast<float>(sign | magnitude);
}

template <>
HOCKET_DEVICE constexpr float round_to<float>(float value) {
  return value;
}

template <>
HOCKET_DEVICE constexpr Bfloat16 round_to<Bfloat16>(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7FFF'FFFF) > detail::kInfinityBits;
  const std::uint32_t kept = is_nan ? bits | detail::kQuietBit : detail::rounded<16>(bits);
  return {static_cast<std::uint16_t>(kept >> 16)};
}

template <>
HOCKET_DEVICE constexpr Float16 round_to<Float16>(float value) {
  constexpr std::uint32_t kFirstInfinite = std::bit_cast<std::uint32_t>(65520.0f);
  constexpr std::uint32_t kFirstNormal = std::bit_cast<std::uint32_t>(0x1p-14f);
  constexpr std::uint32_t kHalf = std::bit_cast<std::uint32_t>(0.5f);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  const std::uint32_t magnitude = bits & 0x7FFF'FFFF;
  std::uint32_t result = 0x7C00;
  if (magnitude > detail::kInfinityBits) {
    result = 0x7E00 | ((magnitude >> 13) & 0x3FF);
  } else if (magnitude < kFirstNormal) {
    // Floats from a half to one are 2^-24 apart, just as the denormals of binary16: the sum rounds.
    result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - kHalf;
  } else if (magnitude < kFirstInfinite) {
    result = (detail::rounded<13>(magnitude) >> 13) - ((127 - 15) << 10);
  }
  return {static_cast<std::uint16_t>(sign | result)};
}

}  // namespace hocket::kernels
