// SPDX-License-Identifier: Apache-2.0
// What ranks enqueue for their calls: all alike, or with signatures that tell.
#include "engine/stream/executor.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "algo/table.h"
#include "engine/fake_streams_suite.h"

namespace hocket::engine::stream {
namespace {

using world::Lowering;

class StreamExecutor : public ::testing::Test {
 protected:
  std::shared_ptr<const Config> config(std::uint32_t world, const char* algorithm = nullptr) {
    algo::Agreed agreed;
    agreed.topology = std::make_shared<const Topology>(1, world);
    agreed.on_streams = true;
    if (algorithm != nullptr) agreed.rules.push_back({.algorithm = algorithm, .origin = "test"});
    Config config;
    config.topology = agreed.topology;
    config.tuning = algo::Tuning::make(std::move(agreed)).value();
    return std::make_shared<const Config>(std::move(config));
  }
  static Call call(Collective collective, std::uint64_t count, DataType type = DataType::float32) {
    Call call;
    call.request.collective = collective;
    call.request.type = type;
    call.request.count = count;
    return call;
  }
  Actions prepared(const Executor& executor, const Call& call) {
    Result<Prepared> actions = executor.prepare(call);
    EXPECT_TRUE(actions) << actions.error().text();
    return std::get<Actions>(*actions);
  }
  fake::StreamDevice device_;
};

TEST_F(StreamExecutor, TakesTheLoweringThatHoldsThePart) {
  const Executor executor(config(4), Rank{1}, device_);
  const auto lowering = [&](std::uint64_t bytes) {
    return executor.way(call(Collective::all_gather, bytes, DataType::uint8).request)
        .value()
        .manner.lowering;
  };
  EXPECT_EQ(lowering(0), Lowering::packet);
  EXPECT_EQ(lowering(64 << 10), Lowering::packet);
  EXPECT_EQ(lowering((64 << 10) + 1), Lowering::staged);
  EXPECT_EQ(lowering(1 << 20), Lowering::staged);
}

TEST_F(StreamExecutor, SmallAllReducesGoInOneStepLargeOnesInTwo) {
  const Executor executor(config(8), Rank{3}, device_);
  EXPECT_EQ(prepared(executor, call(Collective::all_reduce, 2)).size(), 1u);
  EXPECT_EQ(prepared(executor, call(Collective::all_reduce, 256 << 10)).size(), 2u);
  // Between two ranks both send as much, so one step is always enough.
  const Executor two(config(2), Rank{1}, device_);
  EXPECT_EQ(prepared(two, call(Collective::all_reduce, 256 << 10)).size(), 1u);
}

TEST_F(StreamExecutor, TakesTheAlgorithmThatIsNamed) {
  const Executor direct(config(2, "direct"), Rank{0}, device_);
  EXPECT_EQ(prepared(direct, call(Collective::all_reduce, 2)).size(), 2u);
  const Executor any(config(2), Rank{0}, device_);
  Call forced = call(Collective::all_reduce, 2);
  forced.algorithm = algo::find(Collective::all_reduce, "direct");
  EXPECT_EQ(prepared(any, forced).size(), 2u);
  EXPECT_EQ(prepared(any, call(Collective::all_reduce, 2)).size(), 1u);
}

TEST_F(StreamExecutor, GoesRoundByRoundWhereThereIsNoPattern) {
  Executor executor(config(4, "ring"), Rank{1}, device_);
  std::vector<float> memory(100);
  Call average = call(Collective::all_reduce, 50);
  average.request.op = ReduceOp::avg;
  average.input = reinterpret_cast<std::byte*>(memory.data());
  average.output = reinterpret_cast<std::byte*>(memory.data() + 50);
  const Result<Prepared> prepared = executor.prepare(average);
  ASSERT_TRUE(prepared) << prepared.error().text();
  const auto& groups = std::get<std::vector<world::Transfers>>(*prepared);
  ASSERT_EQ(groups.size(), 7u);  // a scaling and 6 rounds
  EXPECT_EQ(groups[0].all[1].scaling, world::Scaling::before);
  for (std::size_t i = 1; i < 7; ++i) {
    const world::Transfers& group = groups[i];
    ASSERT_EQ(group.count, 2u);
    EXPECT_EQ(group.directions[0], (world::Direction{.peer = 2, .sends = true, .count = 1}));
    EXPECT_EQ(group.directions[1],
              (world::Direction{.peer = 0, .sends = false, .first = 1, .count = 1}));
    EXPECT_EQ(group.all[1].operand != nullptr, i <= 3) << i;  // three that add, three that land
    EXPECT_EQ(group.all[0].signature, groups[0].all[0].signature);
  }
  int stream = 0;
  ASSERT_TRUE(executor.enqueue({&stream}, *prepared));
  EXPECT_EQ(device_.transfers.size(), 7u);
}

/// All send to the next rank in the first round, and receive in the second.
Exchange one_after_another(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world();
  Exchange exchange;
  if (k == 0) exchange.to = Rank{(at.me.value + 1) % world};
  if (k == 1) exchange.from = Rank{(at.me.value + world - 1) % world};
  return exchange;
}

TEST_F(StreamExecutor, RefusesRoundsThatItCannotDo) {
  const Executor executor(config(4), Rank{1}, device_);
  Algorithm row{.name = "test",
                .collective = Collective::all_reduce,
                .fits = [](const Topology&) { return true; },
                .shape = [](const Topology&) { return Shape{1, 65}; },
                .round = [](const At&, std::uint32_t) { return Exchange(); },
                .depth = [](const Topology&) { return 1u; },
                .in_place = false};
  Call forced = call(Collective::all_reduce, 8);
  forced.algorithm = &row;
  const auto refusal = [&] { return executor.prepare(forced).error().text(); };
  const std::string what = "unsupported: on a stream: all_reduce test, 1 node x 4 ranks: ";
  EXPECT_EQ(refusal(), what + "65 rounds, each a launch; 64 at most");
  row.shape = [](const Topology&) { return Shape{1, 2}; };
  row.round = &one_after_another;
  EXPECT_EQ(refusal(), what + "its ranks would wait for one another, round by round");
  row.round = [](const At&, std::uint32_t) { return Exchange(); };
  EXPECT_TRUE(executor.prepare(forced));
  forced.request.op = ReduceOp::avg;
  EXPECT_EQ(refusal(), "unsupported: all_reduce: algorithm 'test' does not work in place");
  EXPECT_TRUE(device_.transfers.empty());
}

TEST_F(StreamExecutor, RoundsHaveTheScratchThatTheyNeed) {
  Executor executor(config(4, "binomial"), Rank{0}, device_);
  std::vector<float> memory(100);
  Call reduce = call(Collective::reduce, 50);
  reduce.input = reinterpret_cast<std::byte*>(memory.data());
  reduce.output = reinterpret_cast<std::byte*>(memory.data() + 50);
  const bool needs = algo::find(Collective::reduce, "binomial")->scratch;
  ASSERT_TRUE(executor.prepare(reduce));
  EXPECT_EQ(device_.scratch_memory.size(), needs ? 256u : 0u);
}

TEST_F(StreamExecutor, RanksThatCallAlikeSignAlikeWhateverTheirMemory) {
  std::vector<std::byte> memory(4096);
  Call out_of_place = call(Collective::all_reduce, 100), in_place = out_of_place;
  in_place.request.in_place = true;
  in_place.input = in_place.output = memory.data();
  out_of_place.input = memory.data();
  out_of_place.output = memory.data() + 2048;
  const auto config = this->config(4);
  const Actions a = prepared(Executor(config, Rank{0}, device_), out_of_place);
  const Actions b = prepared(Executor(config, Rank{3}, device_), in_place);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a.begin()[i].signature, b.begin()[i].signature);
    EXPECT_EQ(a.begin()[i].lowering, b.begin()[i].lowering);
    EXPECT_EQ(a.begin()[i].blocks, b.begin()[i].blocks);
    EXPECT_EQ(a.begin()[i].threads, b.begin()[i].threads);
  }
}

TEST_F(StreamExecutor, CallsThatDifferSignDifferently) {
  const Executor executor(config(4), Rank{0}, device_);
  std::vector<Call> calls(5, call(Collective::all_reduce, 100));
  calls[1].request.count = 101;
  calls[2].request.type = DataType::int32;
  calls[3].request.op = ReduceOp::max;
  calls[4].request.collective = Collective::reduce_scatter;
  std::set<std::uint32_t> signatures;
  for (const Call& call : calls) signatures.insert(prepared(executor, call).begin()->signature);
  EXPECT_EQ(signatures.size(), calls.size());
}

TEST_F(StreamExecutor, EnqueuesOnTheStreamItIsGiven) {
  Executor executor(config(2), Rank{0}, device_);
  const Actions actions = prepared(executor, call(Collective::all_gather, 5));
  int stream = 0;
  ASSERT_TRUE(executor.enqueue({&stream}, actions));
  ASSERT_EQ(device_.all.size(), 1u);
  EXPECT_EQ(device_.all[0].swap, actions.begin()->swap);
  EXPECT_EQ(device_.streams, std::vector<void*>{&stream});
}

TEST_F(StreamExecutor, CutsWhatIsLongerThanStaging) {
  const Executor executor(config(2), Rank{0}, device_);
  const auto windows = [&](std::uint64_t bytes) {
    return prepared(executor, call(Collective::all_gather, bytes, DataType::uint8))
        .begin()
        ->windows;
  };
  EXPECT_EQ(windows(8), 1u);
  EXPECT_EQ(windows(1 << 20), 1u);
  EXPECT_EQ(windows((1 << 20) + 1), 2u);
  EXPECT_EQ(windows(std::uint64_t{5} << 30), 5120u);
}

TEST_F(StreamExecutor, RefusesWhatItCannotDo) {
  const Executor executor(config(2), Rank{0}, device_);
  device_.staged = 0;
  const Result<Prepared> large = executor.prepare(call(Collective::all_gather, 1 << 20));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), Code::unsupported);
  EXPECT_EQ(large.error().message(),
            "on a stream: parts of 4194304 bytes; packets take up to 65536, and there is no "
            "staging");
  const Result<Prepared> message = executor.prepare(call(Collective::send_recv, 1));
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code(), Code::unsupported);
}

}  // namespace
}  // namespace hocket::engine::stream
