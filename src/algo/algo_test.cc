// SPDX-License-Identifier: Apache-2.0
// Every row of every table, whoever adds one: proven on small topologies here, on the full lists by
// `hocket prove`.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "algo/order.h"
#include "algo/table.h"
#include "plan/prove_all.h"
#include "testing/cases.h"

namespace hocket::algo {
namespace {

TEST(Tables, NameEachAlgorithmOnce) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    std::set<std::string> names;
    for (const Algorithm& algorithm : algorithms(collective)) {
      EXPECT_EQ(algorithm.collective, collective);
      EXPECT_TRUE(names.insert(algorithm.name).second) << algorithm.name;
      EXPECT_EQ(find(collective, algorithm.name), &algorithm);
    }
    EXPECT_FALSE(names.empty());
    EXPECT_EQ(find(collective, "no such"), nullptr);
  }
}

TEST(Algorithms, AreProvenOnSmallTopologies) {
  const auto most = static_cast<std::uint32_t>(testing::cases(8));
  Prover prover;
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& algorithm : algorithms(static_cast<Collective>(c))) {
      ProofTally proven, wanted;
      for (const Topology& topology : topologies_to_prove(std::max(most, 6u))) {
        Result<ProofTally> tally = prove_on(prover, algorithm, topology);
        ASSERT_TRUE(tally) << tally.error().message();
        proven += tally.value();
        wanted += plans_to_prove(algorithm, topology);
      }
      EXPECT_EQ(proven.plans, wanted.plans) << algorithm.name;
      EXPECT_EQ(proven.exchanges, wanted.exchanges) << algorithm.name;
      EXPECT_EQ(proven.uses_scratch, algorithm.scratch) << algorithm.name;
    }
}

// The claim is not made where it could be.
TEST(Algorithms, WorkInPlaceUnlessTheyCannot) {
  Prover prover;
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& algorithm : algorithms(static_cast<Collective>(c))) {
      if (algorithm.in_place) continue;
      const Topology topology(2, 2);
      Request request{.collective = algorithm.collective, .in_place = true};
      EXPECT_FALSE(prover.prove(make_plan(algorithm, topology, request))) << algorithm.name;
    }
}

TEST(Order, TurnsRanksWithinTheirNodes) {
  const Topology topology = Topology::make({{1, 3}, {1, 2}}).value();
  for (std::uint16_t channel = 0; channel < 5; ++channel) {
    const Order order({topology, {}, Rank{0}, ChannelId{channel}});
    for (std::uint32_t r = 0; r < 5; ++r) {
      const std::uint32_t position = order.position(Rank{r});
      EXPECT_EQ(position, r < 3 ? (r + channel) % 3 : 3 + (r - 3 + channel) % 2);
      EXPECT_EQ(order.rank(position), Rank{r});
    }
  }
}

}  // namespace
}  // namespace hocket::algo
