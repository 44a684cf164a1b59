// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "algo/circle.h"
#include "algo/table.h"
#include "algo/traffic.h"

namespace hocket::algo {
namespace {

const Algorithm& row(const char* name) { return *find(Collective::all_reduce, name); }

Traffic traffic(const char* name, std::uint32_t world) {
  return busiest(row(name), Topology(1, world));
}

TEST(AllReduce, RingSendsToItsNeighbourWhatTheBoundAllows) {
  EXPECT_EQ(traffic("ring", 1), (Traffic{.copies = 1}));
  for (std::uint32_t n = 2; n <= 64; ++n)
    EXPECT_EQ(traffic("ring", n),
              (Traffic{.messages = 2 * (n - 1), .blocks = 2 * (n - 1), .folds = n - 1}));
}

TEST(AllReduce, HalvingDoublingTakesTheLogarithmOfAnyWorld) {
  EXPECT_EQ(traffic("halving_doubling", 1), (Traffic{.copies = 1}));
  for (std::uint32_t n = 2; n <= 64; ++n)
    EXPECT_EQ(
        traffic("halving_doubling", n),
        (Traffic{
            .messages = 2 * log2_ceil(n), .blocks = 2 * (n - 1), .folds = n - 1, .copies = n % 2}));
}

TEST(AllReduce, DirectHasTwoSteps) {
  for (std::uint32_t n = 2; n <= 64; ++n) {
    EXPECT_EQ(traffic("direct", n),
              (Traffic{.messages = 2 * (n - 1), .blocks = 2 * (n - 1), .folds = n - 1}));
    const Topology topology(1, n);
    for (std::uint32_t k = 0; k < 2 * (n - 1); ++k)
      EXPECT_EQ(row("direct").round({topology, {}, Rank{0}, {}}, k).after, k < n - 1 ? 0 : n - 1);
  }
}

TEST(AllReduce, OneShotSendsAllToAll) {
  for (std::uint32_t n = 2; n <= 64; ++n) {
    EXPECT_EQ(traffic("one_shot", n),
              (Traffic{.messages = n - 1, .blocks = n - 1, .folds = n - 1, .copies = 1}));
    const Request in_place{.in_place = true};
    EXPECT_EQ(busiest(row("one_shot"), Topology(1, n), in_place),
              (Traffic{.messages = n - 1, .blocks = n - 1, .folds = n - 1, .copies = 2}));
  }
}

// Over the rails goes what an all_reduce of a rank's share among the nodes takes: 2(h-1) blocks of
// the g * h; within the node the rest.
TEST(AllReduce, TwoLevelSendsItsShareAbroad) {
  int rows = 0;
  for (const Algorithm& two_level : algorithms(Collective::all_reduce)) {
    if (!std::string_view(two_level.name).starts_with("two_level(")) continue;
    ++rows;
    for (std::uint32_t h = 2; h <= 8; ++h)
      for (std::uint32_t g = 2; g <= 8; ++g) {
        const Traffic t = busiest(two_level, Topology(h, g));
        EXPECT_EQ(t.abroad, 2 * (h - 1)) << two_level.name;
        EXPECT_EQ(t.blocks, 2 * (h - 1) + 2 * (g - 1) * h) << two_level.name;
        EXPECT_EQ(t.folds, (h - 1) + (g - 1) * h) << two_level.name;
      }
    EXPECT_FALSE(two_level.fits(Topology(1, 8)));
    EXPECT_FALSE(two_level.fits(Topology(8, 1)));
  }
  EXPECT_EQ(rows, 9);
}

TEST(AllReduce, TwoLevelTakesTheRoundsOfItsParts) {
  const Topology topology(5, 4);
  EXPECT_EQ(row("two_level(ring,ring)").shape(topology), (Shape{20, 2 * 3 + 2 * 4}));
  EXPECT_EQ(row("two_level(direct,halving_doubling)").shape(topology), (Shape{20, 2 * 3 + 2 * 3}));
  EXPECT_EQ(row("two_level(halving_doubling,direct)").shape(topology), (Shape{20, 2 * 2 + 2 * 4}));
}

TEST(AllReduce, ChannelsOfARingCrossNodesByRanksOfTheirOwn) {
  const Topology topology(2, 4);
  for (std::uint16_t channel = 0; channel < 4; ++channel)
    for (std::uint32_t r = 0; r < 8; ++r) {
      const Exchange x = row("ring").round({topology, {}, Rank{r}, ChannelId{channel}}, 0);
      const bool leaves = topology.between(Rank{r}, x.to) == LinkClass::rail;
      EXPECT_EQ(leaves, r % 4 == (7u - channel) % 4) << "rank " << r << " channel " << channel;
    }
}

}  // namespace
}  // namespace hocket::algo
