// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/reference.h"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "device/cpu/half.h"

namespace hocket::cpu {
namespace {

template <class T>
T element(const std::byte* base, std::uint64_t index) {
  T value;
  std::memcpy(&value, base + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void set_element(std::byte* base, std::uint64_t index, T value) {
  std::memcpy(base + index * sizeof(T), &value, sizeof(T));
}

// Arithmetic is done in the type that `widen` returns.
template <class T>
T widen(T value) {
  return value;
}
float widen(Float16 value) { return to_float(value); }
float widen(Bfloat16 value) { return to_float(value); }

float canonical(float value) {
  return std::isnan(value) ? std::bit_cast<float>(0x7FFF'FFFFu) : value;
}
double canonical(double value) {
  return std::isnan(value) ? std::bit_cast<double>(0x7FFF'FFFF'FFFF'FFFFu) : value;
}

template <class T, class Wide>
T narrow(Wide value) {
  if constexpr (std::floating_point<Wide> && sizeof(T) < sizeof(Wide)) {
    return round_to<T>(canonical(value));
  } else if constexpr (std::floating_point<Wide>) {
    return canonical(value);
  } else {
    return value;
  }
}

// Signed overflow is undefined and small unsigned types are promoted to int, so integers wrap as
// uint64.
struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      return a + b;
    }
  }
};

struct Prod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return a * b;
    }
  }
};

template <class T>
bool is_less(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (a == b) return std::signbit(a) && !std::signbit(b);
  }
  return a < b;
}

template <class T>
bool is_nan(T value) {
  return value != value;
}

struct Min {
  template <class T>
  T operator()(T a, T b) const {
    if (is_nan(a) || is_nan(b)) return std::numeric_limits<T>::quiet_NaN();
    return is_less(b, a) ? b : a;
  }
};

struct Max {
  template <class T>
  T operator()(T a, T b) const {
    if (is_nan(a) || is_nan(b)) return std::numeric_limits<T>::quiet_NaN();
    return is_less(a, b) ? b : a;
  }
};

template <class T, class Op>
void fold_elements(const FoldOperands& f) {
  for (std::uint64_t i = 0; i < f.count; ++i) {
    const auto local = widen(element<T>(f.local, i));
    const auto arrived = widen(element<T>(f.arrived, i));
    set_element(f.target, i, narrow<T>(Op{}(local, arrived)));
  }
}

template <class T>
void fold_type(ReduceOp op, const FoldOperands& f) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return fold_elements<T, Sum>(f);
    case ReduceOp::prod:
      return fold_elements<T, Prod>(f);
    case ReduceOp::min:
      return fold_elements<T, Min>(f);
    case ReduceOp::max:
      return fold_elements<T, Max>(f);
  }
}

template <class T>
void scale_type(const ScaleOperands& s) {
  using Wide = decltype(widen(T{}));
  for (std::uint64_t i = 0; i < s.count; ++i) {
    const Wide value = widen(element<T>(s.source, i));
    if constexpr (std::floating_point<Wide>) {
      const Wide factor = Wide{1} / static_cast<Wide>(s.divisor);
      set_element(s.target, i, narrow<T>(value * factor));
    } else {
      const auto quotient = static_cast<std::int64_t>(value) / std::int64_t{s.divisor};
      set_element(s.target, i, static_cast<T>(quotient));
    }
  }
}

}  // namespace

void reference_fold(DataType type, ReduceOp op, const FoldOperands& operands) {
  switch (type) {
    case DataType::float32:
      return fold_type<float>(op, operands);
    case DataType::float64:
      return fold_type<double>(op, operands);
    case DataType::bfloat16:
      return fold_type<Bfloat16>(op, operands);
    case DataType::float16:
      return fold_type<Float16>(op, operands);
    case DataType::int32:
      return fold_type<std::int32_t>(op, operands);
    case DataType::int64:
      return fold_type<std::int64_t>(op, operands);
    case DataType::uint8:
      return fold_type<std::uint8_t>(op, operands);
  }
}

void reference_scale(DataType type, const ScaleOperands& operands) {
  switch (type) {
    case DataType::float32:
      return scale_type<float>(operands);
    case DataType::float64:
      return scale_type<double>(operands);
    case DataType::bfloat16:
      return scale_type<Bfloat16>(operands);
    case DataType::float16:
      return scale_type<Float16>(operands);
    case DataType::int32:
      return scale_type<std::int32_t>(operands);
    case DataType::int64:
      return scale_type<std::int64_t>(operands);
    case DataType::uint8:
      return scale_type<std::uint8_t>(operands);
  }
}

}  // namespace hocket::cpu
