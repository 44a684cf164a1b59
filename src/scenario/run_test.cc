// SPDX-License-Identifier: Apache-2.0
// The real engine in virtual time: right bytes whatever the timing, the same run from the same
// seed, and an answer that names the culprit when ranks die, do not come, or are late.
#include "scenario/run.h"

#include <gtest/gtest.h>

#include <string>

#include "algo/table.h"
#include "base/prng.h"
#include "scenario/payload_test.h"
#include "testing/cases.h"

namespace hocket::scenario {
namespace {

std::shared_ptr<const Topology> nodes_of(std::uint32_t nodes, std::uint32_t ranks) {
  return std::make_shared<const Topology>(nodes, ranks);
}

/// One algorithm, cut small, so that there is something to go wrong.
RunOptions options_for(const std::shared_ptr<const Topology>& topology, const Algorithm& algorithm,
                       std::uint32_t credits) {
  algo::Agreed agreed;
  agreed.topology = topology;
  agreed.costs.message = 300'000;
  agreed.costs.credits = credits;
  algo::Rule rule;
  rule.collective = algorithm.collective;
  rule.algorithm = algorithm.name;
  rule.origin = "test";
  rule.channels = 2;
  rule.pieces = 3;
  rule.slice_bytes = 64;
  agreed.rules.push_back(rule);
  Result<std::shared_ptr<const algo::Tuning>> tuning = algo::Tuning::make(std::move(agreed));
  EXPECT_TRUE(tuning) << tuning.error().text();
  RunOptions options;
  options.tuning = *tuning;
  options.request.collective = algorithm.collective;
  options.request.type = DataType::int32;
  return options;
}

Outcome run(const RunOptions& options) {
  Result<std::unique_ptr<Run>> made = Run::make(options);
  EXPECT_TRUE(made) << made.error().text();
  return (*made)->run();
}

const Algorithm& row(Collective collective, const char* name) {
  const Algorithm* const found = algo::find(collective, name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

// All at one moment of virtual time, where a step of the simulator is a great many events.
TEST(Run, TellsHowFarItHasComeHoweverLittleTimePasses) {
  struct Count final : Progress {
    void passed(Picoseconds) override { ++times; }
    std::uint64_t times = 0;
  } count;
  RunOptions options = options_for(nodes_of(1, 128), row(Collective::alltoall, "direct"), 8);
  options.request.count = 1;
  options.progress = &count;
  const Outcome outcome = run(options);
  EXPECT_TRUE(outcome.errors.empty());
  EXPECT_GT(outcome.report.events, 1u << 15);
  EXPECT_EQ(count.times, outcome.report.events / (1 << 14));
}

TEST(Run, RealPayloadIsRightWhateverTheTiming) {
  Prng random(1);
  std::uint32_t runs = 0;
  for (const auto& [nodes, ranks] : {std::pair{1u, 2u}, {1u, 5u}, {2u, 4u}, {3u, 3u}, {13u, 1u}})
    for (std::size_t i = 0; i < kCollectives - 1; ++i)
      for (const Algorithm& algorithm : algo::algorithms(static_cast<Collective>(i))) {
        const auto topology = nodes_of(nodes, ranks);
        if (!algorithm.fits(*topology)) continue;
        for (const std::uint32_t credits : {1u, 3u}) {
          RunOptions options = options_for(topology, algorithm, credits);
          const bool barrier = algorithm.collective == Collective::barrier;
          options.request.count = barrier ? 0 : 1 + random.below(700);
          options.request.root = Rank{static_cast<std::uint32_t>(random.below(nodes * ranks))};
          options.request.in_place = algorithm.in_place && random.below(2) == 0;
          options.late = 20'000'000;
          options.sim.jitter = random.below(2) * 3'000'000;
          options.sim.seed = random.next();
          PlainDevice device;
          Payload payload(options.request, nodes * ranks);
          options.sim.bytes = &device;
          options.inputs = payload.inputs();
          options.outputs = payload.outputs();
          const Outcome outcome = run(options);
          EXPECT_EQ(outcome.done, nodes * ranks);
          EXPECT_EQ(payload.wrong(), 0u)
              << name_of(algorithm.collective) << ' ' << algorithm.name << ", " << topology->text()
              << ", count " << options.request.count << ", root " << options.request.root.value
              << ", in place " << options.request.in_place << ", credits " << credits << ", seed "
              << options.sim.seed;
          ++runs;
        }
      }
  EXPECT_GE(runs, 84u);
}

TEST(Run, AveragesDivideOnce) {
  RunOptions options = options_for(nodes_of(1, 4), row(Collective::all_reduce, "ring"), 8);
  options.request.count = 100;
  options.request.op = ReduceOp::avg;
  PlainDevice device;
  std::vector<std::vector<std::int32_t>> in(4, std::vector<std::int32_t>(100, 6)), out = in;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    options.inputs.push_back(reinterpret_cast<const std::byte*>(in[rank].data()));
    options.outputs.push_back(reinterpret_cast<std::byte*>(out[rank].data()));
  }
  options.sim.bytes = &device;
  EXPECT_EQ(run(options).done, 4u);
  EXPECT_EQ(out, in);
}

TEST(Run, OpsOfACommunicatorFollowOneAnother) {
  RunOptions options = options_for(nodes_of(2, 4), row(Collective::all_gather, "ring"), 2);
  options.request.count = 333;
  options.late = 50'000'000;
  options.ops = 5;
  PlainDevice device;
  Payload payload(options.request, 8);
  options.sim.bytes = &device;
  options.inputs = payload.inputs();
  options.outputs = payload.outputs();
  EXPECT_EQ(run(options).done, 40u);
  EXPECT_EQ(payload.wrong(), 0u);
}

TEST(Run, SendAndReceiveBetweenTwo) {
  RunOptions options = options_for(nodes_of(1, 3), row(Collective::send_recv, "direct"), 2);
  options.request.root = Rank{2};
  options.request.count = 500;
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.done, 2u);
  EXPECT_GT(outcome.report.messages, 1u);
}

RunOptions two_level(std::uint32_t nodes) {
  RunOptions options = options_for(
      nodes_of(nodes, 8), row(Collective::all_reduce, "two_level(direct,halving_doubling)"), 8);
  options.request.count = 10'000;
  options.late = 100'000'000;
  options.sim.jitter = 2'000'000;
  options.sim.seed = 7;
  return options;
}

TEST(Run, TheSameSeedIsTheSameRun) {
  RunOptions options = two_level(8);
  const sim::Report first = run(options).report;
  for (int i = 1; i < testing::cases(100); ++i) {
    const sim::Report again = run(options).report;
    ASSERT_EQ(again.hash, first.hash) << i;
    ASSERT_EQ(again.finish, first.finish) << i;
  }
  options.sim.seed = 8;
  EXPECT_NE(run(options).report.hash, first.hash);
}

/// Of two_level(8), whoever built it.
constexpr std::uint64_t kHash = 2156188368261060394u;

/// One hash for all compilers and instruction sets: a run that differs anywhere differs here.
TEST(Run, EveryBuildAgreesOnTheHash) { EXPECT_EQ(run(two_level(8)).report.hash, kHash); }

TEST(Run, PayloadChangesNothing) {
  RunOptions options = two_level(2);
  const sim::Report elided = run(options).report;
  PlainDevice device;
  Payload payload(options.request, 16);
  options.sim.bytes = &device;
  options.inputs = payload.inputs();
  options.outputs = payload.outputs();
  const sim::Report real = run(options).report;
  EXPECT_EQ(real.hash, elided.hash);
  EXPECT_EQ(real.finish, elided.finish);
  EXPECT_EQ(payload.wrong(), 0u);
}

TEST(Run, ACrashNamesItsRankEverywhere) {
  for (const Picoseconds at : {0u, 30'000'000u, 60'000'000u, 90'000'000u}) {
    RunOptions options = two_level(8);
    options.crashes = {{Rank{21}, at}};
    options.sim.detection = 1'000'000'000;  // 1 ms
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.unfinished, 0u) << at;
    EXPECT_EQ(outcome.done, 0u) << at;
    for (const Error& error : outcome.errors) {
      EXPECT_EQ(error.code(), Code::peer_lost) << error.text();
      EXPECT_EQ(error.peer(), Rank{21}) << error.text();
    }
    EXPECT_GE(outcome.errors.size(), 63u) << at;
    EXPECT_LE(outcome.report.finish, at + 1'000'000'000 + 20'000'000) << at;
  }
}

TEST(Run, ARankThatNeverComesIsNamedAtTheDeadline) {
  RunOptions options = two_level(8);
  options.late = 0;
  options.crashes = {{Rank{3}, 0}};
  options.sim.detection = 3'600'000'000'000'000;  // nobody notices for an hour
  options.op_timeout = milliseconds(50);
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.unfinished, 0u);
  ASSERT_EQ(outcome.errors.size(), 63u);
  std::uint32_t reporters = 0;
  for (const Error& error : outcome.errors) {
    EXPECT_EQ(error.code(), Code::timeout) << error.text();
    EXPECT_EQ(error.peer(), Rank{3}) << error.text();
    reporters += error.message().find("rank 3 did not enter it") != std::string::npos;
  }
  EXPECT_GE(reporters, 1u);
}

TEST(Run, ALateRankIsWaitedForUntilTheDeadline) {
  RunOptions options = two_level(2);
  options.late = 40'000'000'000;  // 40 ms
  options.op_timeout = milliseconds(50);
  EXPECT_EQ(run(options).done, 16u);
  options.op_timeout = milliseconds(5);
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.done, 0u);
  EXPECT_EQ(outcome.unfinished, 0u);
  EXPECT_EQ(outcome.errors.size(), 16u);
}

TEST(Run, DeathsLeaveNoRankWaiting) {
  Prng random(3);
  for (int i = 0; i < testing::cases(100); ++i) {
    const auto rows = algo::algorithms(static_cast<Collective>(random.below(kCollectives - 1)));
    const Algorithm& algorithm = rows[random.below(rows.size())];
    const auto topology = nodes_of(4, 4);
    if (!algorithm.fits(*topology)) continue;
    RunOptions options =
        options_for(topology, algorithm, static_cast<std::uint32_t>(1 + random.below(3)));
    options.request.count =
        algorithm.collective == Collective::barrier ? 0 : 1 + random.below(5'000);
    options.late = 20'000'000;
    options.ops = 2;
    options.sim.seed = random.next();
    options.sim.detection = 1'000'000 + random.below(50'000'000);
    const Rank victim{static_cast<std::uint32_t>(random.below(16))};
    options.crashes = {{victim, random.below(100'000'000)}};
    const Outcome outcome = run(options);
    ASSERT_EQ(outcome.unfinished, 0u) << algorithm.name << " seed " << options.sim.seed;
    for (const Error& error : outcome.errors) ASSERT_EQ(error.peer(), victim) << error.text();
  }
}

TEST(Run, RefusesOptionsThatMakeNoSense) {
  RunOptions options = two_level(2);
  options.crashes = {{Rank{16}, 0}};
  EXPECT_EQ(Run::make(options).error().text(),
            "invalid argument: rank 16 is to crash in a world of 16");
}

}  // namespace
}  // namespace hocket::scenario
