// SPDX-License-Identifier: Apache-2.0
// The words of a request that every layer shares: element types, reductions, collectives.
// Values only; each enum is dense from zero so that tables can be indexed by it.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hocket {

enum class DataType : std::uint8_t { float32, float64, bfloat16, float16, int32, int64, uint8 };
inline constexpr std::size_t kDataTypes = 7;

enum class ReduceOp : std::uint8_t { sum, prod, min, max, avg };
inline constexpr std::size_t kReduceOps = 5;

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  alltoall,
  barrier,
  send_recv,
};
inline constexpr std::size_t kCollectives = 8;

namespace internal {  // tables inside a function would be made anew at every call

inline constexpr const char* kTypeNames[kDataTypes] = {"float32", "float64", "bfloat16", "float16",
                                                       "int32",   "int64",   "uint8"};
inline constexpr const char* kOpNames[kReduceOps] = {"sum", "prod", "min", "max", "avg"};
inline constexpr const char* kCollectiveNames[kCollectives] = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast",
    "reduce",     "alltoall",   "barrier",        "send_recv"};

}  // namespace internal

/// Bytes of one element: a power of two. Not a table: a GPU would keep it in memory.
constexpr std::uint32_t size_of(DataType type) {
  switch (type) {
    case DataType::float64:
    case DataType::int64:
      return 8;
    case DataType::float32:
    case DataType::int32:
      return 4;
    case DataType::bfloat16:
    case DataType::float16:
      return 2;
    case DataType::uint8:
      break;
  }
  return 1;
}
/// Whole elements in so many bytes, without a division.
constexpr std::uint64_t count_in(std::uint64_t bytes, DataType type) {
  return bytes >> std::countr_zero(size_of(type));
}

constexpr bool is_float(DataType type) { return type <= DataType::float16; }

/// The one spelling of each name, as printed by every tool; never null.
constexpr const char* name_of(DataType type) {
  return internal::kTypeNames[static_cast<std::size_t>(type)];
}
constexpr const char* name_of(ReduceOp op) {
  return internal::kOpNames[static_cast<std::size_t>(op)];
}
constexpr const char* name_of(Collective collective) {
  return internal::kCollectiveNames[static_cast<std::size_t>(collective)];
}

}  // namespace hocket
