// SPDX-License-Identifier: Apache-2.0
// The reference against arithmetic that is wider than the type by so much that rounding it once
// more is the correct rounding of the exact result: float in double, double in 113 bits, integers
// in 128.
#include "device/cpu/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/prng.h"
#include "device/kernels/half.h"
#include "testing/cases.h"

namespace hocket::cpu {
namespace {

using kernels::Bfloat16;
using kernels::Float16;
using kernels::round_to;
using kernels::to_float;

#ifdef __SIZEOF_FLOAT128__
__extension__ using Quad = __float128;
#else
using Quad = long double;
#endif
__extension__ using Int128 = __int128;

template <class T>
struct Traits;
template <>
struct Traits<float> {
  using Bits = std::uint32_t;
  using Wide = double;
  static constexpr DataType kType = DataType::float32;
};
template <>
struct Traits<double> {
  using Bits = std::uint64_t;
  using Wide = Quad;
  static constexpr DataType kType = DataType::float64;
};
template <>
struct Traits<Bfloat16> {
  using Bits = std::uint16_t;
  using Wide = double;
  static constexpr DataType kType = DataType::bfloat16;
};
template <>
struct Traits<Float16> {
  using Bits = std::uint16_t;
  using Wide = double;
  static constexpr DataType kType = DataType::float16;
};
template <>
struct Traits<std::int32_t> {
  using Bits = std::uint32_t;
  using Wide = Int128;
  static constexpr DataType kType = DataType::int32;
};
template <>
struct Traits<std::int64_t> {
  using Bits = std::uint64_t;
  using Wide = Int128;
  static constexpr DataType kType = DataType::int64;
};
template <>
struct Traits<std::uint8_t> {
  using Bits = std::uint8_t;
  using Wide = Int128;
  static constexpr DataType kType = DataType::uint8;
};

template <class T>
using Bits = typename Traits<T>::Bits;
template <class T>
using Wide = typename Traits<T>::Wide;
template <class T>
inline constexpr bool kIsHalf = std::same_as<T, Float16> || std::same_as<T, Bfloat16>;

template <class T>
Wide<T> widen(T value) {
  if constexpr (kIsHalf<T>) {
    return to_float(value);
  } else {
    return value;
  }
}

// Correct rounding by arithmetic instead of bits: to a multiple of the last place, ties to even.
double nearest(double value, int mantissa_bits, int exponent_min, double largest) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), exponent_min);
  const double last_place = std::ldexp(1.0, exponent - mantissa_bits);
  const double rounded = std::nearbyint(value / last_place) * last_place;
  const double limited = std::abs(rounded) > largest ? HUGE_VAL : std::abs(rounded);
  return std::copysign(limited, value);
}

template <class T>
double nearest_half(double value) {
  return std::same_as<T, Float16> ? nearest(value, 10, -14, 65504)
                                  : nearest(value, 7, -126, std::ldexp(255, 120));
}

// What `exact` has to be stored as. 16-bit types compute in float, which can matter only where a
// product is denormal as a float.
template <class T>
Bits<T> stored(Wide<T> exact) {
  if constexpr (std::integral<T>) {
    return static_cast<Bits<T>>(exact);
  } else {
    if (exact != exact) return std::numeric_limits<std::make_signed_t<Bits<T>>>::max();
    if constexpr (kIsHalf<T>) {
      const auto half = static_cast<float>(nearest_half<T>(static_cast<float>(exact)));
      const auto bits = round_to<T>(half).bits;
      EXPECT_EQ(to_float(T{bits}), half);
      return bits;
    } else {
      return std::bit_cast<Bits<T>>(static_cast<T>(exact));
    }
  }
}

template <class T>
bool sign(T wide) {
  return std::signbit(static_cast<double>(wide));
}

template <class T>
Wide<T> exact(ReduceOp op, Wide<T> a, Wide<T> b) {
  const bool is_min = op == ReduceOp::min;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return a + b;
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::min:
    case ReduceOp::max:
      break;
  }
  if (a != a || b != b) return a + b;
  if constexpr (!std::integral<T>) {
    if (a == 0 && b == 0) return sign(a) == is_min ? a : b;
  }
  return (a < b) == is_min ? a : b;
}

template <class T>
T from_bits(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<Bits<T>>(bits));
}

template <class T>
Bits<T> folded(ReduceOp op, T local, T arrived) {
  T target;
  const auto bytes = [](auto& value) { return reinterpret_cast<std::byte*>(&value); };
  reference_fold(Traits<T>::kType, op, {bytes(target), bytes(local), bytes(arrived), 1});
  return std::bit_cast<Bits<T>>(target);
}

template <class T>
Bits<T> scaled(T source, std::uint32_t divisor) {
  T target;
  const auto bytes = [](auto& value) { return reinterpret_cast<std::byte*>(&value); };
  reference_scale(Traits<T>::kType, {bytes(target), bytes(source), 1, divisor});
  return std::bit_cast<Bits<T>>(target);
}

template <class T>
void expect_exact_fold(T a, T b) {
  for (std::size_t i = 0; i < kReduceOps; ++i) {
    const auto op = static_cast<ReduceOp>(i);
    ASSERT_EQ(folded(op, a, b), stored<T>(exact<T>(op, widen(a), widen(b))))
        << name_of(Traits<T>::kType) << ' ' << name_of(op) << " of bits " << std::hex
        << +std::bit_cast<Bits<T>>(a) << " and " << +std::bit_cast<Bits<T>>(b);
    ASSERT_EQ(folded(op, a, b), folded(op, b, a));
  }
}

template <class T>
T from_float(float value) {
  if constexpr (kIsHalf<T>) {
    return round_to<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

// Zeros, ones, the smallest and largest of everything, infinities and NaNs, both signs, and
// neighbours.
template <class T>
std::vector<T> special_values() {
  constexpr int kWidth = 8 * sizeof(T);
  std::vector<T> values;
  for (int bit = 0; bit <= kWidth; ++bit) {
    const std::uint64_t power = bit == 64 ? 0 : std::uint64_t{1} << bit;
    for (const std::uint64_t bits : {power - 1, power, power + 1}) {
      values.push_back(from_bits<T>(bits));
      values.push_back(from_bits<T>(~bits));
    }
  }
  if constexpr (std::integral<T>) return values;
  for (const float value : {1.0f, 1.5f, 3.0f, 255.0f, 256.0f, 32768.0f, 65504.0f, HUGE_VALF}) {
    values.push_back(from_float<T>(value));
    values.push_back(from_float<T>(-value));
  }
  return values;
}

template <class T>
class ReferenceTest : public ::testing::Test {};
using Types =
    ::testing::Types<float, double, Bfloat16, Float16, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(ReferenceTest, Types);

TYPED_TEST(ReferenceTest, FoldsSpecialValuesExactly) {
  const std::vector<TypeParam> values = special_values<TypeParam>();
  for (const TypeParam a : values) {
    for (const TypeParam b : values) ASSERT_NO_FATAL_FAILURE(expect_exact_fold(a, b));
  }
}

TYPED_TEST(ReferenceTest, FoldsRandomValuesExactly) {
  Prng random(1);
  for (int i = 0; i < testing::cases(50'000); ++i) {
    const auto a = from_bits<TypeParam>(random.next());
    ASSERT_NO_FATAL_FAILURE(expect_exact_fold(a, from_bits<TypeParam>(random.next())));
    // Operands of nearly the same size, where rounding, cancellation and ties happen.
    const std::uint64_t few = random.below(std::uint64_t{1} << (4 * sizeof(TypeParam)));
    const auto near = from_bits<TypeParam>(std::bit_cast<Bits<TypeParam>>(a) ^ few);
    ASSERT_NO_FATAL_FAILURE(expect_exact_fold(a, near));
  }
}

TYPED_TEST(ReferenceTest, ScalesExactly) {
  using T = TypeParam;
  constexpr auto kIntMax = std::numeric_limits<std::uint32_t>::max();
  Prng random(2);
  for (const std::uint32_t divisor : {1u, 2u, 3u, 7u, 8u, 255u, 256u, 65'537u, 1u << 31, kIntMax}) {
    std::vector<T> values = special_values<T>();
    for (int i = 0; i < testing::cases(1'000); ++i) values.push_back(from_bits<T>(random.next()));
    for (const T value : values) {
      Wide<T> expected;
      if constexpr (std::integral<T>) {
        expected = Wide<T>{value} / divisor;
      } else {
        using Factor = std::conditional_t<std::same_as<T, double>, double, float>;
        expected = widen(value) * (Factor{1} / static_cast<Factor>(divisor));
      }
      ASSERT_EQ(scaled(value, divisor), stored<T>(expected)) << divisor;
    }
  }
}

TEST(Reference, FoldsWholeBuffers) {
  const std::array<std::int32_t, 3> local = {1, -2, 3};
  const std::array<std::int32_t, 3> arrived = {10, 20, -30};
  std::array<std::int32_t, 4> target = {0, 0, 0, 99};
  const auto bytes = [](auto& array) { return std::as_writable_bytes(std::span(array)).data(); };
  const auto view = [](const auto& array) { return std::as_bytes(std::span(array)).data(); };
  reference_fold(DataType::int32, ReduceOp::sum, {bytes(target), view(local), view(arrived), 3});
  EXPECT_EQ(target, (std::array<std::int32_t, 4>{11, 18, -27, 99}));
  reference_scale(DataType::int32, {bytes(target), view(target), 3, 2});
  EXPECT_EQ(target, (std::array<std::int32_t, 4>{5, 9, -13, 99}));
}

TEST(Reference, OrdersZerosAndKeepsNan) {
  const float nan = std::numeric_limits<float>::signaling_NaN();
  EXPECT_EQ(folded(ReduceOp::min, 0.0f, -0.0f), 0x8000'0000u);
  EXPECT_EQ(folded(ReduceOp::max, -0.0f, 0.0f), 0u);
  EXPECT_EQ(folded(ReduceOp::min, -HUGE_VALF, nan), 0x7FFF'FFFFu);
  EXPECT_EQ(folded(ReduceOp::max, -nan, HUGE_VALF), 0x7FFF'FFFFu);
  EXPECT_EQ(folded(ReduceOp::sum, -HUGE_VALF, HUGE_VALF), 0x7FFF'FFFFu);
  EXPECT_EQ(folded(ReduceOp::prod, round_to<Float16>(HUGE_VALF), Float16{0}), 0x7FFFu);
  EXPECT_EQ(scaled(round_to<Bfloat16>(nan), 2), 0x7FFFu);
}

TEST(Reference, OverflowsAndWraps) {
  EXPECT_EQ(folded(ReduceOp::sum, Float16{0x7BFF}, Float16{0x4C00}), 0x7C00);  // 65504 + 16
  EXPECT_EQ(folded(ReduceOp::sum, Float16{0x7BFF}, Float16{0x4BFF}), 0x7BFF);
  EXPECT_EQ(folded(ReduceOp::sum, std::int32_t{0x7FFF'FFFF}, std::int32_t{1}), 0x8000'0000u);
  EXPECT_EQ(folded(ReduceOp::prod, std::uint8_t{16}, std::uint8_t{17}), 16);
}

template <class T>
class HalfTest : public ::testing::Test {};
using HalfTypes = ::testing::Types<Bfloat16, Float16>;
TYPED_TEST_SUITE(HalfTest, HalfTypes);

TYPED_TEST(HalfTest, EveryValueSurvivesTheRoundTrip) {
  constexpr bool kIsFloat16 = std::same_as<TypeParam, Float16>;
  constexpr int kMantissaBits = kIsFloat16 ? 10 : 7;
  constexpr int kExponentMax = kIsFloat16 ? 31 : 255;
  for (unsigned bits = 0; bits < 0x1'0000; ++bits) {
    const TypeParam value{static_cast<std::uint16_t>(bits)};
    const int exponent = static_cast<int>((bits & 0x7FFF) >> kMantissaBits);
    const int mantissa = static_cast<int>(bits & ((1u << kMantissaBits) - 1));
    const int implied = exponent == 0 ? 0 : 1 << kMantissaBits;
    const int scale = std::max(exponent, 1) - kExponentMax / 2 - kMantissaBits;
    const float magnitude = exponent == kExponentMax
                                ? (mantissa ? std::nanf("") : HUGE_VALF)
                                : std::ldexp(static_cast<float>(implied + mantissa), scale);
    const float wide = to_float(value);
    ASSERT_EQ(std::signbit(wide), bits >> 15) << bits;
    if (std::isnan(magnitude)) {
      const unsigned quiet = bits | 1u << (kMantissaBits - 1);
      ASSERT_TRUE(std::isnan(wide)) << bits;
      ASSERT_EQ(round_to<TypeParam>(wide).bits, quiet);
    } else {
      ASSERT_EQ(std::abs(wide), magnitude) << bits;
      ASSERT_EQ(round_to<TypeParam>(wide), value);
    }
  }
}

TYPED_TEST(HalfTest, RoundsToNearestEven) {
  const auto expect_nearest = [](float value) {
    const float rounded = to_float(round_to<TypeParam>(value));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(rounded),
              std::bit_cast<std::uint32_t>(static_cast<float>(nearest_half<TypeParam>(value))))
        << std::hexfloat << value;
  };
  for (unsigned bits = 0; bits < 0x7FFF; ++bits) {
    const float lower = to_float(TypeParam{static_cast<std::uint16_t>(bits)});
    const float upper = to_float(TypeParam{static_cast<std::uint16_t>(bits + 1)});
    if (!std::isfinite(upper)) break;
    const float middle = lower / 2 + upper / 2;
    for (const float value : {lower, middle, std::nextafter(middle, lower),
                              std::nextafter(middle, upper), std::nextafter(lower, upper)}) {
      ASSERT_NO_FATAL_FAILURE(expect_nearest(value));
      ASSERT_NO_FATAL_FAILURE(expect_nearest(-value));
    }
  }
  Prng random(3);
  for (int i = 0; i < testing::cases(1'000'000); ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    if (std::isnan(value)) continue;
    ASSERT_NO_FATAL_FAILURE(expect_nearest(value));
  }
  for (const float value : {65519.99f, 65520.0f, 65536.0f, 3.3961775e38f, 3.4e38f, HUGE_VALF}) {
    ASSERT_NO_FATAL_FAILURE(expect_nearest(value));
  }
}

}  // namespace
}  // namespace hocket::cpu
