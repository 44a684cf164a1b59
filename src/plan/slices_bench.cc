// SPDX-License-Identifier: Apache-2.0
// Back of the envelope: a range of one stretch is some ten additions and multiplications (3 ns), a
// further slice an addition and a comparison (1 ns).
#include "plan/slices.h"

#include <benchmark/benchmark.h>

namespace hocket {
namespace {

Plan all_reduce(std::uint32_t blocks) {
  Plan plan;
  plan.request.count = 1 << 20;
  plan.shape.blocks = blocks;
  return plan;
}

void range_of_one_slice(benchmark::State& state) {
  const Plan plan = all_reduce(1000);
  const Piece piece(plan, 0);
  std::uint32_t block = 0;
  for (auto _ : state) {
    const Range range{block, 1, 0, 1000};
    for (Slices s(piece, range); s.more(); s.next()) benchmark::DoNotOptimize(s.offset());
    block = block == 999 ? 0 : block + 1;
  }
}
BENCHMARK(range_of_one_slice);

void further_slices(benchmark::State& state) {
  Plan plan = all_reduce(1);
  plan.slice_bytes = 1 << 12;
  const Piece piece(plan, 0);
  for (auto _ : state)
    for (Slices s(piece, {0, 1}); s.more(); s.next()) benchmark::DoNotOptimize(s.offset());
  state.SetItemsProcessed(state.iterations() * 1024);
}
BENCHMARK(further_slices);

}  // namespace
}  // namespace hocket
