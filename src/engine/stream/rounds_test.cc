// SPDX-License-Identifier: Apache-2.0
// Which plans ranks can go through in step. What their rounds do is scenario/stream_test's.
#include "engine/stream/rounds.h"

#include <gtest/gtest.h>

#include "algo/table.h"

namespace hocket::engine::stream {
namespace {

TEST(StreamRounds, OfAllRowsOfANodeWithoutAPatternGoInStep) {
  int plans = 0;
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& row : algo::algorithms(static_cast<Collective>(c)))
      for (std::uint32_t world = 1; world <= 16; ++world) {
        const Topology topology(1, world);
        const bool is_swap = row.pattern != Pattern::none;
        if (is_swap || row.collective == Collective::send_recv || !row.fits(topology)) continue;
        for (std::uint32_t root = 0; root < world; ++root) {
          Request request{.collective = row.collective};
          request.count = 100;
          request.root = Rank{root};
          EXPECT_TRUE(goes_in_step(make_plan(row, topology, request)))
              << name_of(row.collective) << " " << row.name << ", " << world << " ranks, root "
              << root;
          ++plans;
        }
      }
  EXPECT_EQ(plans, 11 * 136);
}

/// All send to the next rank: all in the first of two rounds, or every second one.
enum class Order { sends_first, odd_ranks_receive_first };

template <Order order>
Exchange round_of(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world(), me = at.me.value;
  const bool is_turned = order == Order::odd_ranks_receive_first && me % 2 == 1;
  Exchange exchange;
  if ((k == 0) != is_turned) {
    exchange.to = Rank{(me + 1) % world};
  } else {
    exchange.from = Rank{(me + world - 1) % world};
  }
  return exchange;
}

template <Order order>
bool a_shift_goes_in_step() {
  const Algorithm row{.name = "test",
                      .collective = Collective::barrier,
                      .fits = [](const Topology&) { return true; },
                      .shape = [](const Topology&) { return Shape{1, 2}; },
                      .round = &round_of<order>,
                      .depth = [](const Topology&) { return 1u; }};
  return goes_in_step(make_plan(row, Topology(1, 4), {.collective = Collective::barrier}));
}

TEST(StreamRounds, ThatWaitForOneAnotherAreFound) {
  EXPECT_FALSE(a_shift_goes_in_step<Order::sends_first>());
  EXPECT_TRUE(a_shift_goes_in_step<Order::odd_ranks_receive_first>());
}

}  // namespace
}  // namespace hocket::engine::stream
