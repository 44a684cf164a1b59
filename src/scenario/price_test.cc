// SPDX-License-Identifier: Apache-2.0
// The price against the simulator's events, to the picosecond, for every row that there is.
#include "plan/price.h"

#include <gtest/gtest.h>

#include "algo/table.h"
#include "scenario/run.h"

namespace hocket {
namespace {

struct Case {
  const Algorithm* algorithm;
  std::shared_ptr<const Topology> topology;
  Costs costs;
  Request request;
  algo::Rule rule;
};

struct Both {
  Price price;
  Picoseconds events = 0;
};

Both both(const Case& c) {
  algo::Agreed agreed{.topology = c.topology, .costs = c.costs};
  agreed.slice_bytes = 1u << 31;
  agreed.rules = {c.rule};
  agreed.rules[0].collective = c.algorithm->collective;
  agreed.rules[0].algorithm = c.algorithm->name;
  auto tuning = algo::Tuning::make(std::move(agreed));
  EXPECT_TRUE(tuning) << tuning.error().text();
  scenario::RunOptions options;
  options.tuning = *tuning;
  options.request = c.request;
  Result<std::unique_ptr<scenario::Run>> run = scenario::Run::make(options);
  EXPECT_TRUE(run) << run.error().text();
  const scenario::Outcome outcome = (*run)->run();
  EXPECT_EQ(outcome.done, c.topology->world());
  const Plan plan = plan_of((*run)->choice(), *c.topology, c.request);
  return {price(plan, c.costs), outcome.report.finish};
}

std::vector<std::shared_ptr<const Topology>> topologies() {
  std::vector<std::shared_ptr<const Topology>> all;
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

TEST(Price, EqualsEventsWhereItSaysExact) {
  std::uint32_t exact = 0, all = 0;
  for (const auto& topology : topologies())
    for (std::size_t i = 0; i < kCollectives - 1; ++i)
      for (const Algorithm& algorithm : algo::algorithms(static_cast<Collective>(i))) {
        if (!algorithm.fits(*topology)) continue;
        for (const std::uint64_t count : {0u, 1u, 64u, 1000u, 1u << 16, 15u << 20})
          for (const Picoseconds message : {0u, 300'000u}) {
            if ((algorithm.collective == Collective::barrier) != (count == 0)) continue;
            Case c{&algorithm, topology, {}, {}, {.origin = "test", .channels = 1}};
            c.costs.message = message;
            c.request.collective = algorithm.collective;
            c.request.count = count;
            const auto [price, events] = both(c);
            ++all;
            exact += price.exact;
            const double off = static_cast<double>(price.time) / static_cast<double>(events) - 1;
            if (price.time != events || !price.exact)
              ADD_FAILURE() << name_of(algorithm.collective) << ' ' << algorithm.name << ' '
                            << topology->text() << " count " << count << " message " << message
                            << ": price " << price.time << ", events " << events << " off "
                            << off * 100 << " %, " << price.why;
          }
      }
  std::printf("%u of %u exact\n", exact, all);
}

}  // namespace
}  // namespace hocket
