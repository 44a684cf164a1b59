// SPDX-License-Identifier: Apache-2.0
// Inputs that every rank can compute for all ranks, and results by definition, element by element,
// in wider arithmetic. Floats come in two kinds: those of which no sum, product or quotient is
// rounded, whose results are exact, and others, whose results are within one rounding per step.
// Threads: pure.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/prng.h"
#include "base/types.h"
#include "device/kernels/half.h"

namespace hocket::api {

struct Case {
  int world = 1;
  Collective collective = Collective::all_reduce;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::uint64_t count = 0;
  int root = 0;             ///< send_recv: everybody sends so far to the right
  bool in_place = false;    ///< of this rank
  bool exact = true;        ///< of floats: no sum, product or quotient is rounded
  bool requests = false;    ///< wait for a request; else the call blocks
  std::uint64_t seed = 1;   ///< of the values
  std::uint32_t shift = 0;  ///< bytes from alignment to 64

  std::string text() const {
    return std::string(name_of(collective)) + " " + name_of(type) + " " + name_of(op) + " count " +
           std::to_string(count) + " root " + std::to_string(root) + (in_place ? " in place" : "") +
           (exact ? "" : " rounded") + " seed " + std::to_string(seed);
  }
};

inline std::uint64_t hash_of(const std::byte* data, std::size_t size) {
  Hash hash;
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < size; at += sizeof word) {
    word = 0;
    std::memcpy(&word, data + at, std::min(sizeof word, size - at));
    hash.add(word);
  }
  return hash.value();
}

template <class T>
constexpr bool kIsFloat = !std::is_integral_v<T>;

template <class T>
long double widened(T value) {
  if constexpr (std::is_class_v<T>) {
    return kernels::to_float(value);
  } else {
    return value;
  }
}

/// Of a value that T represents, or nearly.
template <class T>
T narrowed(long double value) {
  if constexpr (std::is_class_v<T>) {
    return kernels::round_to<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// 2^-p, p the bits of T's significand: the most that one rounding takes, relatively.
template <class T>
constexpr long double kRounding = 0;
template <>
inline constexpr long double kRounding<float> = 0x1p-24L;
template <>
inline constexpr long double kRounding<double> = 0x1p-53L;
template <>
inline constexpr long double kRounding<kernels::Bfloat16> = 0x1p-8L;
template <>
inline constexpr long double kRounding<kernels::Float16> = 0x1p-11L;
/// And the most that it takes from a denormal of binary16.
inline constexpr long double kTiny = 0x1p-25L;

/// Calls action.template operator()<T>().
template <class Action>
void with_type(DataType type, Action action) {
  switch (type) {
    case DataType::float32:
      return action.template operator()<float>();
    case DataType::float64:
      return action.template operator()<double>();
    case DataType::bfloat16:
      return action.template operator()<kernels::Bfloat16>();
    case DataType::float16:
      return action.template operator()<kernels::Float16>();
    case DataType::int32:
      return action.template operator()<std::int32_t>();
    case DataType::int64:
      return action.template operator()<std::int64_t>();
    case DataType::uint8:
      return action.template operator()<std::uint8_t>();
  }
}

/// Element `i` of what `rank` puts in.
template <class T>
T value_of(const Case& c, int rank, std::uint64_t i) {
  const std::uint64_t random =
      Prng(c.seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(rank) * 0x100000001b3u + i)
          .next();
  if constexpr (!kIsFloat<T>) {
    return static_cast<T>(random);
  } else {
    const auto small = static_cast<int>(random % 9) - 4;
    const long double fraction = static_cast<long double>(random >> 11) * 0x1p-53L;  // [0, 1)
    if (c.op == ReduceOp::prod)
      return narrowed<T>(c.exact ? (small < 0 ? -1.0L : 1.0L) * std::exp2(small % 2)
                                 : 0.75L + fraction / 2);
    if (c.exact && c.op == ReduceOp::avg) return narrowed<T>(small * c.world);
    if (c.exact && c.op == ReduceOp::sum) return narrowed<T>(small);
    return narrowed<T>((random & 1 ? -1 : 1) * (fraction + 0.01L) * std::exp2(small));
  }
}

/// Whether `result` is what the operands of all ranks make, up to one rounding per step.
template <class T>
bool is_reduced(const Case& c, const std::vector<T>& operands, T result) {
  const auto n = static_cast<long double>(operands.size());
  long double exact = widened(operands[0]), sizes = 0;
  for (const T operand : operands) sizes += std::fabs(widened(operand));
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const long double x = widened(operands[i]);
    if (c.op == ReduceOp::prod) exact *= x;
    if (c.op == ReduceOp::sum || c.op == ReduceOp::avg) exact += x;
    if (c.op == ReduceOp::min) exact = std::min(exact, x);
    if (c.op == ReduceOp::max) exact = std::max(exact, x);
  }
  long double roundings = n - 1;
  if (c.op == ReduceOp::avg) exact /= n, sizes /= n, roundings += 1;
  if (c.op == ReduceOp::prod) sizes = std::fabs(exact);
  const bool is_exact = c.exact || c.op == ReduceOp::min || c.op == ReduceOp::max || n == 1;
  const long double bound = is_exact ? 0 : roundings * (kRounding<T> * sizes * 1.1L + kTiny);
  return std::fabs(widened(result) - exact) <= bound;
}

/// The same for integers, where sums and products wrap and avg divides the sum.
template <class T>
  requires std::is_integral_v<T>
bool is_reduced(const Case& c, const std::vector<T>& operands, T result) {
  std::uint64_t sum = 0, product = 1;  // their low bits are T's
  T least = operands[0], most = operands[0];
  for (const T operand : operands) {
    sum += static_cast<std::uint64_t>(operand);
    product *= static_cast<std::uint64_t>(operand);
    least = std::min(least, operand);
    most = std::max(most, operand);
  }
  switch (c.op) {
    case ReduceOp::sum:
      return result == static_cast<T>(sum);
    case ReduceOp::prod:
      return result == static_cast<T>(product);
    case ReduceOp::min:
      return result == least;
    case ReduceOp::max:
      return result == most;
    case ReduceOp::avg:
      break;
  }
  return result == static_cast<T>(static_cast<T>(sum) / static_cast<T>(operands.size()));
}

}  // namespace hocket::api
