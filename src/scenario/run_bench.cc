// SPDX-License-Identifier: Apache-2.0
// Back of the envelope: a message is 2.3 events of some 2,300 instructions in all, half of them the
// engine's: about 0.3 us where state is in cache, hence 3 M messages a second at 1,024 ranks; half
// of that at 131,072, where each rank's 3 KB come from memory. `rate` is messages a second.
#include <benchmark/benchmark.h>

#include "scenario/run.h"

namespace hocket::scenario {
namespace {

/// two_level all_reduce of 1 MiB, nodes of 8, two channels, slices of 512 KiB, with the CPU time of
/// messages; ranks in step, or entering up to 100 us apart.
void simulate(benchmark::State& state) {
  algo::Agreed agreed;
  agreed.topology =
      std::make_shared<const Topology>(static_cast<std::uint32_t>(state.range(0)) / 8, 8);
  agreed.costs.message = 300'000;
  algo::Rule rule;
  rule.collective = Collective::all_reduce;
  rule.algorithm = "two_level(direct,halving_doubling)";
  rule.origin = "bench";
  rule.channels = 2;
  rule.slice_bytes = 512 * 1024;
  agreed.rules.push_back(rule);
  RunOptions options;
  options.tuning = std::move(algo::Tuning::make(std::move(agreed))).value();
  options.request.count = (1 << 20) / 4;
  options.late = static_cast<Picoseconds>(state.range(1)) * 1'000'000;
  options.op_timeout = seconds(10);
  std::uint64_t messages = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::unique_ptr<Run> run = std::move(Run::make(options)).value();
    state.ResumeTiming();
    messages += run->run().report.messages;
    state.PauseTiming();
    run.reset();
    state.ResumeTiming();
  }
  state.counters["rate"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
}

BENCHMARK(simulate)
    ->ArgNames({"ranks", "late_us"})
    ->Args({1'024, 0})
    ->Args({1'024, 100})
    ->Args({16'384, 0})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hocket::scenario
