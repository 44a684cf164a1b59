// SPDX-License-Identifier: Apache-2.0
// The very swaps that plans become. That they do what the rounds do is shown in
// scenario/stream_test.cc.
#include "engine/stream/lower.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "algo/table.h"

namespace hocket::engine::stream {
namespace {

using world::Combine;
using world::Lowering;
using world::Parts;
using world::Swap;

class Lower : public ::testing::Test {
 protected:
  static constexpr Manner kManner = {Lowering::staged, {3, 128}, 0xabc};

  Plan plan(Collective collective, const char* algorithm, std::uint64_t count) {
    Request request{.collective = collective, .type = DataType::int32, .op = ReduceOp::max};
    request.count = count;
    return make_plan(*algo::find(collective, algorithm), topology_, request);
  }
  std::vector<Swap> swaps(const Plan& plan, std::uint32_t me) {
    Result<Actions> actions = lower(plan, Rank{me}, {input_.data(), output_.data()}, kManner);
    EXPECT_TRUE(actions) << actions.error().text();
    std::vector<Swap> swaps;
    for (const world::Action& action : *actions) {
      EXPECT_EQ(action.lowering, Lowering::staged);
      EXPECT_EQ(action.blocks, 3u);
      EXPECT_EQ(action.threads, 128u);
      EXPECT_EQ(action.signature, 0xabcu);
      swaps.push_back(action.swap);
    }
    return swaps;
  }
  Swap fold(std::byte* output, Parts sent, Parts received, Combine combine) const {
    return {input_.data(), output, sent, received, combine, DataType::int32, ReduceOp::max};
  }
  Swap store(const std::byte* input, Parts sent, Parts received) {
    return {input, output_.data(), sent, received, Combine::store, DataType::int32, ReduceOp::sum};
  }
  std::string refusal(const Plan& plan) {
    Result<Actions> actions = lower(plan, Rank{0}, {}, kManner);
    EXPECT_FALSE(actions);
    EXPECT_EQ(actions.error().code(), Code::unsupported);
    return actions.error().message();
  }

  const Topology topology_{1, 4};
  std::vector<std::byte> input_ = std::vector<std::byte>(160);
  std::vector<std::byte> output_ = std::vector<std::byte>(160);
};

TEST_F(Lower, AllReduceOneShot) {
  const Parts all{10, 0};
  EXPECT_EQ(swaps(plan(Collective::all_reduce, "one_shot", 10), 2),
            std::vector{fold(output_.data(), all, all, Combine::fold_by_rank)});
}

// Blocks of 3, 3, 2, 2.
TEST_F(Lower, AllReduceDirect) {
  const Plan direct = plan(Collective::all_reduce, "direct", 10);
  const Parts blocks{2, 2, 2};
  std::byte* const own1 = output_.data() + 3 * 4;
  EXPECT_EQ(swaps(direct, 1), (std::vector{fold(own1, blocks, {3, 0}, Combine::fold_by_round),
                                           store(own1, {3, 0}, blocks)}));
  std::byte* const own3 = output_.data() + 8 * 4;
  EXPECT_EQ(swaps(direct, 3), (std::vector{fold(own3, blocks, {2, 0}, Combine::fold_by_round),
                                           store(own3, {2, 0}, blocks)}));
  EXPECT_EQ(part_bytes(direct), 12u);
}

TEST_F(Lower, LessThanAnElementEach) {
  const Plan direct = plan(Collective::all_reduce, "direct", 3);
  const Parts blocks{0, 0, 3};
  std::byte* const own = output_.data() + 3 * 4;
  EXPECT_EQ(swaps(direct, 3), (std::vector{fold(own, blocks, {0, 0}, Combine::fold_by_round),
                                           store(own, {0, 0}, blocks)}));
  EXPECT_EQ(part_bytes(direct), 4u);
}

TEST_F(Lower, OthersAreOneSwap) {
  const Parts each{10, 10}, one{10, 0};
  EXPECT_EQ(swaps(plan(Collective::all_gather, "direct", 10), 2),
            std::vector{store(input_.data(), one, each)});
  EXPECT_EQ(swaps(plan(Collective::reduce_scatter, "direct", 10), 2),
            std::vector{fold(output_.data(), each, one, Combine::fold_by_round)});
  EXPECT_EQ(swaps(plan(Collective::alltoall, "direct", 10), 2),
            std::vector{store(input_.data(), each, each)});
  EXPECT_EQ(part_bytes(plan(Collective::alltoall, "direct", 10)), 40u);
}

TEST_F(Lower, OneRankGivesOrGetsAll) {
  const Parts all{.size = 10}, none, of_root{.size = 10, .only = 2};
  Plan broadcast = plan(Collective::broadcast, "direct", 10);
  Plan reduce = plan(Collective::reduce, "direct", 10);
  broadcast.request.root = reduce.request.root = Rank{2};
  EXPECT_EQ(swaps(broadcast, 2), std::vector{store(input_.data(), all, of_root)});
  EXPECT_EQ(swaps(broadcast, 0), std::vector{store(input_.data(), none, of_root)});
  EXPECT_EQ(swaps(reduce, 2),
            std::vector{fold(output_.data(), of_root, all, Combine::fold_by_round)});
  EXPECT_EQ(swaps(reduce, 0),
            std::vector{fold(output_.data(), of_root, none, Combine::fold_by_round)});
  EXPECT_EQ(part_bytes(broadcast), 40u);
  EXPECT_EQ(of_root.count(2), 10u);
  EXPECT_EQ(of_root.count(1), 0u);
  Plan barrier = plan(Collective::barrier, "direct", 0);
  const std::vector<Swap> nothing = swaps(barrier, 1);
  ASSERT_EQ(nothing.size(), 1u);
  EXPECT_EQ(nothing[0].sent, none);
  EXPECT_EQ(nothing[0].received, none);
  EXPECT_EQ(part_bytes(barrier), 0u);
}

TEST_F(Lower, AWorldOfOneCopiesAndInPlaceDoesNothing) {
  const Topology one(1, 1);
  for (const auto& [collective, algorithm] : {std::pair{Collective::all_reduce, "one_shot"},
                                              {Collective::all_reduce, "direct"},
                                              {Collective::all_reduce, "ring"},
                                              {Collective::broadcast, "direct"},
                                              {Collective::reduce, "direct"},
                                              {Collective::alltoall, "direct"}}) {
    Request request{.collective = collective, .type = DataType::int32, .op = ReduceOp::avg};
    request.count = 7;
    const Plan plan = make_plan(*algo::find(collective, algorithm), one, request);
    EXPECT_EQ(swaps(plan, 0), std::vector{store(input_.data(), {7}, {7})}) << algorithm;
    const Result<Actions> in_place =
        lower(plan, Rank{0}, {output_.data(), output_.data()}, kManner);
    ASSERT_TRUE(in_place) << in_place.error().text();
    EXPECT_EQ(in_place->size(), 0u) << algorithm;
  }
  const Request barrier{.collective = Collective::barrier};
  const Result<Actions> nothing = lower(
      make_plan(*algo::find(Collective::barrier, "direct"), one, barrier), Rank{0}, {}, kManner);
  ASSERT_TRUE(nothing) << nothing.error().text();
  EXPECT_EQ(nothing->size(), 0u);
}

TEST_F(Lower, NothingIsASwapOfEmptyParts) {
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& row : algo::algorithms(static_cast<Collective>(c))) {
      if (row.pattern == Pattern::none) continue;
      const Plan none = plan(row.collective, row.name, 0);
      EXPECT_EQ(part_bytes(none), 0u);
      for (std::uint32_t me = 0; me < 4; ++me) {
        const std::vector<Swap> all = swaps(none, me);
        EXPECT_EQ(all.size(), row.pattern == Pattern::push_reduce_push ? 2u : 1u) << row.name;
        for (const Swap& swap : all)
          for (std::uint32_t peer = 0; peer < 4; ++peer)
            EXPECT_EQ(swap.sent.count(peer) + swap.received.count(peer), 0u) << row.name;
      }
    }
}

TEST_F(Lower, RefusesWhatIsNoSwap) {
  EXPECT_EQ(
      refusal(plan(Collective::all_reduce, "ring", 10)),
      "on a stream: all_reduce ring, 1 node x 4 ranks: its rounds are not known to be a swap");
  Plan pieces = plan(Collective::all_reduce, "direct", 10);
  pieces.pieces = 3;
  EXPECT_EQ(refusal(pieces),
            "on a stream: all_reduce direct, 1 node x 4 ranks: swaps are not cut in pieces, this "
            "plan in 3");
  const Topology large(1, 17);
  Plan beyond = plan(Collective::all_gather, "direct", 10);
  beyond.topology = &large;
  EXPECT_EQ(refusal(beyond),
            "on a stream: all_gather direct, 1 node x 17 ranks: a domain has 1 to 16 ranks");
}

TEST(ChooseLowering, TakesTheFastestThatHolds) {
  const Limits large{.packet = 1 << 20, .staged = 8 << 20};
  EXPECT_EQ(choose_lowering(0, large).value(), Lowering::packet);
  EXPECT_EQ(choose_lowering(512 << 10, large).value(), Lowering::packet);
  EXPECT_EQ(choose_lowering((512 << 10) + 1, large).value(), Lowering::staged);
  EXPECT_EQ(choose_lowering(std::uint64_t{8} << 30, large).value(), Lowering::staged);
  EXPECT_EQ(choose_lowering(4097, {.packet = 4096, .staged = 8192}).value(), Lowering::staged);
  EXPECT_EQ(choose_lowering(4097, {.packet = 4096}).error().message(),
            "on a stream: parts of 4097 bytes; packets take up to 4096, and there is no staging");
}

TEST(Windows, AreAsManyAsAPartNeeds) {
  EXPECT_EQ(windows_of(0, 128), 1u);
  EXPECT_EQ(windows_of(128, 128), 1u);
  EXPECT_EQ(windows_of(129, 128), 2u);
  EXPECT_EQ(windows_of(std::uint64_t{1} << 40, std::uint64_t{1} << 24), 1u << 16);
}

TEST(ChooseGrid, GrowsWithTheParts) {
  const auto packet = [](std::uint64_t bytes) { return choose_grid(Lowering::packet, bytes, {}); };
  EXPECT_EQ(packet(0), (Grid{1, 256}));
  EXPECT_EQ(packet(1024), (Grid{1, 256}));
  EXPECT_EQ(packet(2049), (Grid{2, 256}));
  EXPECT_EQ(packet(32 << 10), (Grid{16, 256}));
  EXPECT_EQ(packet(512 << 10), (Grid{32, 256}));
  EXPECT_EQ(choose_grid(Lowering::staged, 1 << 20, {}), (Grid{64, 512}));
  EXPECT_EQ(choose_grid(Lowering::staged, 1 << 20, {.blocks = 16}), (Grid{16, 512}));
  EXPECT_EQ(choose_grid(Lowering::packet, 512 << 10, {.blocks = 16}), (Grid{16, 256}));
}

TEST_F(Lower, SaysWhyItGoesThatWay) {
  const Limits limits{.packet = 4096, .staged = 8192};
  const auto text = [&](std::uint64_t bytes) {
    return explain(choose_manner(bytes, limits).value(), bytes, limits);
  };
  EXPECT_EQ(text(8), "packets take parts up to 4096 bytes, these have 8: 1 block of 256 threads");
  EXPECT_EQ(text(9000),
            "packets take parts up to 4096 bytes, these have 9000: staging of 8192 bytes, 2 "
            "windows, 64 blocks of 512 threads");
  EXPECT_FALSE(choose_manner(9000, {.packet = 4096}));
}

}  // namespace
}  // namespace hocket::engine::stream
