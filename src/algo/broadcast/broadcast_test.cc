// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "algo/circle.h"
#include "algo/table.h"
#include "algo/traffic.h"

namespace hocket::algo {
namespace {

const Algorithm& row(const char* name) { return *find(Collective::broadcast, name); }

Traffic traffic(const char* name, std::uint32_t world) {
  return busiest(row(name), Topology(1, world));
}

TEST(Broadcast, ChainSendsOnce) {
  EXPECT_EQ(traffic("chain", 1), (Traffic{.copies = 1}));
  for (std::uint32_t n = 2; n <= 64; ++n) {
    EXPECT_EQ(traffic("chain", n), (Traffic{.messages = 1, .blocks = 1, .copies = 1}));
    EXPECT_EQ(row("chain").depth(Topology(1, n)), n - 1);
  }
}

TEST(Broadcast, ChainPassesFromTheRootThroughEveryRank) {
  const Topology topology(2, 3);
  const Request request{.collective = Collective::broadcast, .root = Rank{4}};
  for (std::uint16_t channel = 0; channel < 3; ++channel) {
    Rank at{4};
    std::uint32_t seen = 1u << 4;
    for (int i = 0; i < 5; ++i) {
      at = row("chain").round({topology, request, at, ChannelId{channel}}, 1).to;
      seen |= 1u << at.value;
    }
    EXPECT_EQ(seen, 0b111111u);
    EXPECT_EQ(row("chain").round({topology, request, at, ChannelId{channel}}, 1).to, kNobody);
  }
}

TEST(Broadcast, DirectSendsFromTheRootAlone) {
  for (std::uint32_t n = 1; n <= 64; ++n)
    EXPECT_EQ(traffic("direct", n), (Traffic{.messages = n - 1, .blocks = n - 1, .copies = 1}));
  const Topology topology(1, 5);
  const Request request{.collective = Collective::broadcast, .root = Rank{3}};
  for (std::uint32_t r = 0; r < 5; ++r)
    for (std::uint32_t k = 1; k < 5; ++k) {
      const Exchange x = row("direct").round({topology, request, Rank{r}, {}}, k);
      EXPECT_EQ(x.to, r == 3 ? Rank{(3 + k) % 5} : kNobody);
      EXPECT_EQ(x.from, r == (3 + k) % 5 ? Rank{3} : kNobody);
      EXPECT_EQ(x.after, 0u);
    }
}

}  // namespace
}  // namespace hocket::algo
