// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/reference.h"

#include <cstring>

#include "device/kernels/number.h"

namespace hocket::cpu {
namespace {

using kernels::Bfloat16;
using kernels::Float16;

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

template <class T, ReduceOp op>
void fold_elements(const FoldOperands& f) {
  for (std::uint64_t i = 0; i < f.count; ++i) {
    set_element(f.target, i, kernels::fold<op>(element<T>(f.local, i), element<T>(f.arrived, i)));
  }
}

template <class T>
void fold_type(ReduceOp op, const FoldOperands& f) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return fold_elements<T, ReduceOp::sum>(f);
    case ReduceOp::prod:
      return fold_elements<T, ReduceOp::prod>(f);
    case ReduceOp::min:
      return fold_elements<T, ReduceOp::min>(f);
    case ReduceOp::max:
      return fold_elements<T, ReduceOp::max>(f);
  }
}

template <class T>
void scale_type(const ScaleOperands& s) {
  const kernels::Divider<T> divide(s.divisor);
  for (std::uint64_t i = 0; i < s.count; ++i) {
    set_element(s.target, i, divide(element<T>(s.source, i)));
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
