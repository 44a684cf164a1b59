// SPDX-License-Identifier: Apache-2.0
#include "topo/topology.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/prng.h"
#include "testing/cases.h"

namespace hocket {
namespace {

std::string refusal(std::vector<NodeRun> runs, std::uint32_t rails = 1) {
  Result<Topology> made = Topology::make(std::move(runs), rails);
  return made ? "made " + made->text() : made.error().text();
}

TEST(Topology, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal({}), "invalid argument: topology: no ranks");
  EXPECT_EQ(refusal({{2, 4}, {0, 4}}),
            "invalid argument: topology: a run of 0 nodes of 4 ranks is empty");
  EXPECT_EQ(refusal({{3, 0}}), "invalid argument: topology: a run of 3 nodes of 0 ranks is empty");
  EXPECT_EQ(refusal({{1, 1}}, 0), "invalid argument: topology: no rails");
  EXPECT_EQ(refusal({{1u << 21, 8}}), "made 2097152 nodes x 8 ranks");  // 2^24 ranks
  EXPECT_EQ(refusal({{1u << 21, 8}, {1, 1}}), "invalid argument: topology: more than 2^24 ranks");
  EXPECT_EQ(refusal({{~0u, ~0u}}), "invalid argument: topology: more than 2^24 ranks");
}

TEST(Topology, JoinsEqualNeighbours) {
  const Topology topology = Topology::make({{1, 8}, {2, 8}, {1, 4}, {1, 8}}, 2).value();
  EXPECT_EQ(topology.runs(), (std::vector<NodeRun>{{3, 8}, {1, 4}, {1, 8}}));
  EXPECT_EQ(topology.text(), "3 nodes x 8 ranks + 1 node x 4 ranks + 1 node x 8 ranks");
  EXPECT_EQ(topology.world(), 36u);
  EXPECT_EQ(topology.nodes(), 5u);
  EXPECT_EQ(topology.rails(), 2u);
  EXPECT_FALSE(topology.uniform());
  EXPECT_EQ(Topology::make({{1, 8}, {2, 8}}).value(), Topology(3, 8));
  EXPECT_NE(Topology(3, 8), Topology(8, 3));
  EXPECT_NE(Topology(3, 8), Topology(3, 8, 2));
}

TEST(Topology, Text) {
  EXPECT_EQ(Topology(1, 1).text(), "1 node x 1 rank");
  EXPECT_EQ(Topology(2, 8).text(), "2 nodes x 8 ranks");
  EXPECT_EQ(Topology(8, 1).text(), "8 nodes x 1 rank");
}

TEST(Topology, SeatsOfAUniformOne) {
  const Topology topology(16'384, 8);
  EXPECT_TRUE(topology.uniform());
  EXPECT_EQ(topology.ranks_per_node(), 8u);
  EXPECT_EQ(topology.seat(Rank{0}), (Seat{NodeId{0}, Rank{0}, 0, 8}));
  EXPECT_EQ(topology.seat(Rank{131'071}), (Seat{NodeId{16'383}, Rank{131'064}, 7, 8}));
}

/// One seat per rank, written down one by one.
std::vector<Seat> expand(const std::vector<NodeRun>& runs) {
  std::vector<Seat> seats;
  std::uint32_t node = 0;
  for (const NodeRun& run : runs) {
    for (std::uint32_t n = 0; n < run.nodes; ++n, ++node) {
      const Rank first{static_cast<std::uint32_t>(seats.size())};
      for (std::uint32_t i = 0; i < run.ranks; ++i)
        seats.push_back({NodeId{node}, first, i, run.ranks});
    }
  }
  return seats;
}

TEST(Topology, AgreesWithItsExpansion) {
  Prng random(1);
  for (int i = 0; i < testing::cases(300); ++i) {
    std::vector<NodeRun> runs(1 + random.below(5));
    for (NodeRun& run : runs) {
      run.nodes = static_cast<std::uint32_t>(1 + random.below(4));
      run.ranks = static_cast<std::uint32_t>(1 + random.below(6));
    }
    const Topology topology = Topology::make(runs).value();
    SCOPED_TRACE(topology.text());
    const std::vector<Seat> seats = expand(runs);
    ASSERT_EQ(topology.world(), seats.size());
    ASSERT_EQ(topology.nodes(), seats.back().node.value + 1);
    for (std::uint32_t a = 0; a < seats.size(); ++a) {
      ASSERT_EQ(topology.seat(Rank{a}), seats[a]) << a;
      for (std::uint32_t b = 0; b < seats.size(); ++b) {
        const LinkClass expected =
            seats[a].node == seats[b].node ? LinkClass::node : LinkClass::rail;
        ASSERT_EQ(topology.between(Rank{a}, Rank{b}), expected) << a << ' ' << b;
      }
    }
  }
}

TEST(Costs, RoundToWholePicoseconds) {
  const LinkCost link{1'000, 0.3};
  EXPECT_EQ(link.time(0), 0u);
  EXPECT_EQ(link.time(1), 0u);
  EXPECT_EQ(link.time(2), 1u);
  EXPECT_EQ(link.time(1'000'000'000), 300'000'000u);
  Costs costs;
  costs.fold_ps_per_byte = 0.5;
  EXPECT_EQ(costs.fold(3), 2u);
  EXPECT_EQ(&costs.of(LinkClass::node), &costs.link[0]);
  EXPECT_EQ(&costs.of(LinkClass::rail), &costs.link[1]);
  EXPECT_EQ(costs.of(LinkClass::node).time(450), 1'000u);  // 450 GB/s
  EXPECT_EQ(costs.of(LinkClass::rail).time(25), 1'000u);   // 25 GB/s
}

TEST(TopologyDeathTest, ARankOutsideTheWorld) {
  EXPECT_DEATH(Topology(2, 2).seat(Rank{4}), "seat of a rank outside the world");
  EXPECT_DEATH(Topology(0, 2), "a topology of no or too many ranks");
}

}  // namespace
}  // namespace hocket
