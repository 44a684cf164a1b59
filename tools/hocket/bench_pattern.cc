// SPDX-License-Identifier: Apache-2.0
#include "tools/hocket/bench_pattern.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace hocket::tools {
namespace {

constexpr std::uint32_t kPeriod = 1021, kValues = 5;

// Values of rank r repeat after kValues ranks. Products stay within bfloat16's eight bits: one rank
// in five has twos.
std::int64_t value(ReduceOp op, std::uint32_t rank, std::uint32_t i) {
  const std::uint32_t v = (i * 3 + rank) % kValues;
  return op == ReduceOp::prod ? 1 + (v == 0 && rank < 8) : 1 + v;
}

template <class T>
void put(std::byte* target, T v) {
  std::memcpy(target, &v, sizeof v);
}
template <class T>
T get(const std::byte* source) {
  T v;
  std::memcpy(&v, source, sizeof v);
  return v;
}

void encode(DataType type, double v, std::byte* target) {
  const auto integer = static_cast<std::int64_t>(v);
  switch (type) {
    case DataType::float32:
      return put(target, static_cast<float>(v));
    case DataType::float64:
      return put(target, v);
    case DataType::bfloat16:
      return put(target, static_cast<std::uint16_t>(
                             std::bit_cast<std::uint32_t>(static_cast<float>(v)) >> 16));
    case DataType::float16:
      return put(target, static_cast<_Float16>(v));
    case DataType::int32:
      return put(target, static_cast<std::int32_t>(integer));
    case DataType::int64:
      return put(target, integer);
    case DataType::uint8:
      return put(target, static_cast<std::uint8_t>(integer));
  }
}

double decode(DataType type, const std::byte* source) {
  switch (type) {
    case DataType::float32:
      return static_cast<double>(get<float>(source));
    case DataType::float64:
      return get<double>(source);
    case DataType::bfloat16:
      return static_cast<double>(
          std::bit_cast<float>(static_cast<std::uint32_t>(get<std::uint16_t>(source)) << 16));
    case DataType::float16:
      return static_cast<double>(get<_Float16>(source));
    default:
      return 0;  // integers are compared bit for bit
  }
}

/// Half a unit in the last place of 1.0, twice.
double precision(DataType type) {
  switch (type) {
    case DataType::float32:
      return 0x1p-23;
    case DataType::float64:
      return 0x1p-52;
    case DataType::bfloat16:
      return 0x1p-7;
    case DataType::float16:
      return 0x1p-10;
    default:
      return 0;
  }
}

std::int64_t wrapped(DataType type, std::int64_t v) {
  if (type == DataType::uint8) return static_cast<std::uint8_t>(v);
  return type == DataType::int32 ? static_cast<std::int32_t>(v) : v;
}

}  // namespace

Pattern::Pattern(DataType type, ReduceOp op, std::uint32_t ranks)
    : type_(type), op_(op), ranks_(ranks), size_(size_of(type)) {
  for (std::uint32_t rank = 0; rank < std::min(ranks, 8 + kValues); ++rank)
    inputs_.push_back(table(rank));
  reduction_ = reduced();
}

Pattern::Table Pattern::table(std::uint32_t rank) const {
  Table table(std::size_t{kPeriod} * size_);
  for (std::uint32_t i = 0; i < kPeriod; ++i)
    encode(type_, static_cast<double>(value(op_, rank, i)), &table[std::size_t{i} * size_]);
  return table;
}

Pattern::Table Pattern::reduced() const {
  Table table(std::size_t{kPeriod} * size_);
  for (std::uint32_t i = 0; i < kPeriod; ++i) {
    std::int64_t sum = 0, product = 1, least = INT64_MAX, most = 0;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const std::int64_t v = value(op_, rank, i);
      sum += v;
      product *= v;
      least = std::min(least, v);
      most = std::max(most, v);
    }
    const double average = is_float(type_) ? static_cast<double>(sum) / ranks_
                                           : static_cast<double>(wrapped(type_, sum) / ranks_);
    const double results[kReduceOps] = {static_cast<double>(sum), static_cast<double>(product),
                                        static_cast<double>(least), static_cast<double>(most),
                                        average};
    encode(type_, results[static_cast<std::size_t>(op_)], &table[std::size_t{i} * size_]);
  }
  return table;
}

void Pattern::fill(std::uint32_t rank, std::uint64_t first, std::span<std::byte> buffer) const {
  const Table& table = inputs_[rank < 8 ? rank : 8 + (rank - 8) % kValues];
  std::size_t at = first % kPeriod * size_;
  while (!buffer.empty()) {
    const std::size_t n = std::min(table.size() - at, buffer.size());
    std::memcpy(buffer.data(), table.data() + at, n);
    buffer = buffer.subspan(n);
    at = 0;
  }
}

std::uint64_t Pattern::wrong_input(std::uint32_t rank, std::uint64_t first,
                                   std::span<const std::byte> buffer) const {
  return compare(inputs_[rank < 8 ? rank : 8 + (rank - 8) % kValues], first, buffer);
}

std::uint64_t Pattern::wrong_reduction(std::uint64_t first,
                                       std::span<const std::byte> buffer) const {
  return compare(reduction_, first, buffer);
}

std::uint64_t Pattern::compare(const Table& table, std::uint64_t first,
                               std::span<const std::byte> buffer) const {
  std::uint64_t wrong = 0;
  std::size_t at = first % kPeriod * size_;
  while (!buffer.empty()) {
    const std::size_t n = std::min(table.size() - at, buffer.size());
    if (std::memcmp(buffer.data(), table.data() + at, n) != 0)
      wrong += differing({table.data() + at, n}, buffer.first(n));
    buffer = buffer.subspan(n);
    at = 0;
  }
  return wrong;
}

std::uint64_t Pattern::differing(std::span<const std::byte> wanted,
                                 std::span<const std::byte> found) const {
  const bool rounds = op_ == ReduceOp::avg && is_float(type_) && !std::has_single_bit(ranks_);
  const double tolerance = rounds ? precision(type_) * ranks_ : 0;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < wanted.size(); i += size_) {
    if (std::memcmp(&found[i], &wanted[i], size_) == 0) continue;
    const double want = decode(type_, &wanted[i]);
    const double off = std::abs(decode(type_, &found[i]) - want);
    wrong += !(tolerance > 0 && off <= tolerance * std::abs(want));
  }
  return wrong;
}

}  // namespace hocket::tools
