// SPDX-License-Identifier: Apache-2.0
// The price against the simulator's events, to the picosecond, for every row that there is; and
// both against closed forms.
#include "plan/price.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "algo/table.h"
#include "base/prng.h"
#include "scenario/run.h"
#include "testing/cases.h"

namespace hocket {
namespace {

using Shared = std::shared_ptr<const Topology>;

struct Case {
  const Algorithm& algorithm;
  Shared topology;
  Costs costs = {};
  Request request = {};
  std::uint32_t channels = 1, pieces = 1, slice_bytes = 1u << 31;

  std::string text() const {
    return std::string(name_of(algorithm.collective)) + ' ' + algorithm.name + ", " +
           topology->text() + ", count " + std::to_string(request.count) + ", root " +
           std::to_string(request.root.value) + ", message " + std::to_string(costs.message) +
           ", slice " + std::to_string(slice_bytes);
  }
};

struct Both {
  Price price;
  Picoseconds events = 0;
};

Both both(const Case& c) {
  algo::Agreed agreed{.topology = c.topology, .costs = c.costs};
  agreed.slice_bytes = 1u << 31;
  algo::Rule rule;
  rule.collective = c.algorithm.collective;
  rule.algorithm = c.algorithm.name;
  rule.origin = "test";
  rule.channels = c.channels;
  rule.pieces = c.pieces;
  rule.slice_bytes = c.slice_bytes;
  agreed.rules.push_back(rule);
  Result<std::shared_ptr<const algo::Tuning>> tuning = algo::Tuning::make(std::move(agreed));
  EXPECT_TRUE(tuning) << tuning.error().text();
  scenario::RunOptions options;
  options.tuning = *tuning;
  options.request = c.request;
  options.request.collective = c.algorithm.collective;
  Result<std::unique_ptr<scenario::Run>> run = scenario::Run::make(options);
  EXPECT_TRUE(run) << run.error().text();
  const scenario::Outcome outcome = (*run)->run();
  EXPECT_EQ(outcome.done, c.topology->world()) << c.text();
  const Plan plan = plan_of((*run)->choice(), *c.topology, options.request);
  return {price(plan, c.costs), outcome.report.finish};
}

std::vector<Shared> topologies() {
  std::vector<Shared> all;
  for (const auto& [nodes, ranks] : {std::pair{1u, 1u},
                                     {1u, 2u},
                                     {1u, 3u},
                                     {1u, 8u},
                                     {1u, 13u},
                                     {2u, 1u},
                                     {5u, 1u},
                                     {16u, 1u},
                                     {2u, 2u},
                                     {2u, 8u},
                                     {3u, 4u},
                                     {8u, 8u},
                                     {4u, 3u}})
    all.push_back(std::make_shared<const Topology>(nodes, ranks));
  Result<Topology> uneven = Topology::make({{2, 3}, {1, 5}});
  all.push_back(std::make_shared<const Topology>(std::move(uneven).value()));
  return all;
}

/// Every row on every topology that it fits: visit(algorithm, topology).
template <class Visit>
void for_all_rows(Visit&& visit) {
  for (const Shared& topology : topologies())
    for (std::size_t i = 0; i < kCollectives; ++i)
      for (const Algorithm& algorithm : algo::algorithms(static_cast<Collective>(i)))
        if (algorithm.collective != Collective::send_recv && algorithm.fits(*topology))
          visit(algorithm, topology);
}

TEST(Price, EqualsEventsToThePicosecond) {
  std::uint32_t cases = 0;
  for_all_rows([&](const Algorithm& algorithm, const Shared& topology) {
    for (const std::uint64_t count : {0u, 1u, 64u, 1000u, 1u << 16, 15u << 20})
      for (const Picoseconds message : {0u, 300'000u}) {
        if ((algorithm.collective == Collective::barrier) != (count == 0)) continue;
        Case c{algorithm, topology};
        c.costs.message = message;
        c.request.count = count;
        const auto [price, events] = both(c);
        EXPECT_TRUE(price.exact) << c.text() << ": " << price.why;
        EXPECT_EQ(price.time, events) << c.text() << ": " << price.why;
        EXPECT_EQ(price.alpha + price.beta + price.gamma + price.cpu, price.time);
        ++cases;
      }
  });
  EXPECT_GT(cases, 2'000u);
}

TEST(Price, EqualsEventsWithOtherCostsRootsOpsAndSlices) {
  Prng random(5);
  std::uint32_t exact = 0, cases = 0;
  for_all_rows([&](const Algorithm& algorithm, const Shared& topology) {
    for (int i = 0; i < testing::cases(10); ++i) {
      Case c{algorithm, topology};
      c.costs.message = random.below(500'000);
      c.costs.credits = static_cast<std::uint32_t>(2 + random.below(7));
      c.costs.link[0] = {1 + random.below(3'000'000), 0.5 + static_cast<double>(random.below(40))};
      c.costs.link[1] = {c.costs.link[0].alpha + random.below(9'000'000),
                         1.0 + static_cast<double>(random.below(200))};
      c.costs.fold_ps_per_byte = static_cast<double>(random.below(10));
      c.request.type = random.below(2) ? DataType::float64 : DataType::int32;
      c.request.op = random.below(3) ? ReduceOp::sum : ReduceOp::avg;
      c.request.root = Rank{static_cast<std::uint32_t>(random.below(topology->world()))};
      c.request.count = algorithm.collective == Collective::barrier
                            ? 0
                            : 1 + random.below(1u << random.below(18));
      if (random.below(2)) c.slice_bytes = 4096u << random.below(8);
      const auto [price, events] = both(c);
      ++cases;
      exact += price.exact;
      if (!price.exact) continue;
      EXPECT_EQ(price.time, events) << c.text() << ": " << price.why;
    }
  });
  EXPECT_GT(exact, cases / 2);
}

/// What is not exact is near: channels, pieces, slices beyond credits.
TEST(Price, EstimatesAreNearWhereCreditsSuffice) {
  for (const char* name : {"ring", "halving_doubling", "direct", "two_level(direct,direct)"})
    for (const std::uint32_t channels : {2u, 4u}) {
      const Algorithm& algorithm = *algo::find(Collective::all_reduce, name);
      Case c{algorithm, std::make_shared<const Topology>(4, 4)};
      c.costs.message = 300'000;
      c.costs.credits = 64;
      c.request.count = 1u << 20;
      c.channels = c.pieces = channels;
      c.slice_bytes = 64 << 10;
      const auto [price, events] = both(c);
      EXPECT_FALSE(price.exact) << c.text();
      const double off = static_cast<double>(price.time) / static_cast<double>(events) - 1;
      EXPECT_LT(std::abs(off), 0.05) << c.text() << ": " << price.why;
    }
}

TEST(Price, RingIsItsClosedForm) {
  const Algorithm& ring = *algo::find(Collective::all_reduce, "ring");
  for (const std::uint32_t n : {2u, 8u, 64u, 256u})
    for (const std::uint64_t count : {1u << 10, 1u << 22}) {
      Case c{ring, std::make_shared<const Topology>(n, 1)};
      c.costs.message = 300'000;
      c.request.count = count;
      const auto [price, events] = both(c);
      const LinkCost& link = c.costs.of(LinkClass::rail);
      const double block = 4.0 * static_cast<double>(count) / n, steps = 2.0 * (n - 1);
      const double form = steps * (static_cast<double>(link.alpha) + block * link.ps_per_byte +
                                   2.0 * static_cast<double>(c.costs.message)) +
                          steps / 2 * block * c.costs.fold_ps_per_byte;
      EXPECT_EQ(price.time, events);
      EXPECT_NEAR(static_cast<double>(price.time) / form, 1, 1e-6) << n << ' ' << count;
    }
}

/// Where the root's messages are too many to follow.
TEST(Price, RootsOfManyRanksAreEstimatedAndSaySo) {
  for (const auto& [collective, nodes, ranks] : {std::tuple{Collective::broadcast, 1u, 128u},
                                                 {Collective::broadcast, 16u, 8u},
                                                 {Collective::reduce, 1u, 128u},
                                                 {Collective::reduce, 16u, 8u}})
    for (const std::uint64_t count : {1u, 1u << 10, 1u << 18})
      for (const Picoseconds message : {0u, 300'000u}) {
        const Topology topology(nodes, ranks);
        Request request{.collective = collective};
        request.count = count;
        Costs costs;
        costs.message = message;
        Plan plan = make_plan(*algo::find(collective, "direct"), topology, request);
        plan.slice_bytes = 1u << 31;
        const Price exact = price(plan, costs), estimate = price(plan, costs, 2048);
        EXPECT_TRUE(exact.exact) << exact.why;
        EXPECT_FALSE(estimate.exact);
        const double ratio = static_cast<double>(estimate.time) / static_cast<double>(exact.time);
        EXPECT_NEAR(ratio, 1, 0.1)
            << name_of(collective) << ' ' << topology.text() << ' ' << count << ' ' << message;
      }
}

TEST(Price, LongPlansAreExtrapolatedAndSaySo) {
  const Topology topology(1, 4096);
  Request request;
  request.count = 4096 * 1024;
  const Plan ring = make_plan(*algo::find(Collective::all_reduce, "ring"), topology, request);
  const Price exact = price(ring, Costs{});
  const Price estimate = price(ring, Costs{}, 256);
  EXPECT_TRUE(exact.exact) << exact.why;
  EXPECT_FALSE(estimate.exact);
  EXPECT_NEAR(static_cast<double>(estimate.time) / static_cast<double>(exact.time), 1, 0.01);
}

TEST(Price, MessagesTooLongForTheLongestSlicesAreScaledAndSaySo) {
  const Topology topology(1, 8);
  Request request;
  request.count = std::uint64_t{1} << 36;
  const Algorithm& ring = *algo::find(Collective::all_reduce, "ring");
  const Price shorter = price(make_plan(ring, topology, request), Costs{});
  request.count *= 256;  // 64 TiB
  const Price estimate = price(make_plan(ring, topology, request), Costs{});
  EXPECT_FALSE(estimate.exact);
  EXPECT_STREQ(estimate.why, "scaled up from a shorter message");
  EXPECT_NEAR(static_cast<double>(estimate.time) / static_cast<double>(shorter.time), 256, 0.1);
}

TEST(Price, AChainTooLongIsItsSlowestHopAgainAndAgain) {
  const Topology topology(4096, 1);
  Request request;
  request.collective = Collective::broadcast;
  request.count = 1024;
  const Plan chain = make_plan(*algo::find(Collective::broadcast, "chain"), topology, request);
  const Price exact = price(chain, Costs{});
  const Price estimate = price(chain, Costs{}, 256);
  EXPECT_TRUE(exact.exact) << exact.why;
  EXPECT_FALSE(estimate.exact);
  EXPECT_NEAR(static_cast<double>(estimate.time) / static_cast<double>(exact.time), 1, 0.01);
}

}  // namespace
}  // namespace hocket
