// SPDX-License-Identifier: Apache-2.0
// Back of the envelope, per core. A fold out of place moves four streams: two operands, the
// target's lines read before they are overwritten, and the target; a memcpy moves three. Of 30 GB/s
// between a core and memory a fold's target gets 30 / 4 = 7 GB/s, of the second-level cache's 32
// bytes per cycle at 3.4 GHz it gets 110 / 4 = 27. The 16-bit types do some 20 vector instructions
// for 32 bytes at 4 per cycle: 32 * 3.4 / 5 = 22 GB/s at most, wherever the data is.
//
// The run prints bytes of target per second and the ratio to 3/4 of a memcpy of the same size timed
// just before (in place to a whole one: the target is an operand, three streams are left).
#include "device/cpu/fold.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <limits>
#include <vector>

#include "device/cpu/copy.h"

namespace hocket::cpu {
namespace {

constexpr std::int64_t kFloat32 = static_cast<std::int64_t>(DataType::float32);
constexpr std::int64_t kFloat64 = static_cast<std::int64_t>(DataType::float64);
constexpr std::int64_t kBfloat16 = static_cast<std::int64_t>(DataType::bfloat16);
constexpr std::int64_t kFloat16 = static_cast<std::int64_t>(DataType::float16);

struct Operands {
  explicit Operands(std::uint64_t bytes)
      : target(bytes, kOne), local(bytes, kOne), arrived(bytes, kOne) {}
  static constexpr std::byte kOne{0x3C};  // bytes that are small ordinary floats in every format
  std::vector<std::byte> target, local, arrived;
};

// In processor time, as the benchmark's own figures are.
double memcpy_bytes_per_second(Operands& operands) {
  const std::uint64_t bytes = operands.target.size();
  const std::uint64_t repeats = std::max<std::uint64_t>(1, (64u << 20) / bytes);
  std::clock_t best = std::numeric_limits<std::clock_t>::max();
  for (int trial = 0; trial < 5; ++trial) {
    const std::clock_t start = std::clock();
    for (std::uint64_t i = 0; i < repeats; ++i) {
      std::memcpy(operands.target.data(), operands.local.data(), bytes);
      benchmark::ClobberMemory();
    }
    best = std::min(best, std::clock() - start);
  }
  return static_cast<double>(bytes * repeats) * CLOCKS_PER_SEC / static_cast<double>(best);
}

void report(benchmark::State& state, const char* label, std::uint64_t bytes, double bound) {
  const auto total = static_cast<double>(state.iterations()) * static_cast<double>(bytes);
  state.SetBytesProcessed(static_cast<std::int64_t>(total));
  state.counters["of_bound"] = benchmark::Counter(total / bound, benchmark::Counter::kIsRate);
  state.SetLabel(label);
}

void sum(benchmark::State& state) {
  const auto type = static_cast<DataType>(state.range(0));
  const auto bytes = static_cast<std::uint64_t>(state.range(1));
  const bool in_place = state.range(2) != 0;
  const FoldTable table = choose_fold_table();
  Operands operands(bytes);
  const double bound = memcpy_bytes_per_second(operands) * (in_place ? 1.0 : 3.0 / 4);
  std::byte* const target = in_place ? operands.local.data() : operands.target.data();
  for (auto _ : state) {
    table.fold(type, ReduceOp::sum,
               {target, operands.local.data(), operands.arrived.data(), bytes / size_of(type)});
    benchmark::ClobberMemory();
  }
  report(state, name_of(type), bytes, bound);
}
BENCHMARK(sum)
    ->ArgNames({"type", "bytes", "in_place"})
    ->ArgsProduct({{kFloat32, kFloat64, kBfloat16, kFloat16},
                   {64 << 10, 1 << 20, 64 << 20},
                   {0, 1}});

// The smallest messages: what a fold adds to the latency of an all_reduce of 8 bytes.
void sum_8_bytes(benchmark::State& state) {
  const auto type = static_cast<DataType>(state.range(0));
  const FoldTable table = choose_fold_table();
  Operands operands(8);
  for (auto _ : state) {
    table.fold(type, ReduceOp::sum,
               {operands.target.data(), operands.local.data(), operands.arrived.data(),
                8 / size_of(type)});
    benchmark::ClobberMemory();
  }
  state.SetLabel(name_of(type));
}
BENCHMARK(sum_8_bytes)->ArgName("type")->DenseRange(kFloat32, kFloat16);

// Slices one after the other into a buffer that fits the cache or does not, from a source that
// does.
void copy_slices(benchmark::State& state) {
  constexpr std::uint64_t kSlice = 512 << 10;
  const bool past_cache = state.range(0) != 0;
  const auto bytes = static_cast<std::uint64_t>(state.range(1));
  Operands operands(bytes);
  const double bound = memcpy_bytes_per_second(operands);
  std::uint64_t offset = 0;
  for (auto _ : state) {
    const auto function = past_cache ? copy_past_cache : copy;
    function(operands.target.data() + offset, operands.local.data(), kSlice);
    offset = (offset + kSlice) % bytes;
    benchmark::ClobberMemory();
  }
  report(state, past_cache ? "past the cache" : "memcpy", kSlice, bound);
}
BENCHMARK(copy_slices)
    ->ArgNames({"past_cache", "bytes"})
    ->ArgsProduct({{0, 1}, {1 << 20, 128 << 20}});

}  // namespace
}  // namespace hocket::cpu
