// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "algo/circle.h"
#include "algo/table.h"
#include "algo/traffic.h"

namespace hocket::algo {
namespace {

const Algorithm& row(const char* name) { return *find(Collective::alltoall, name); }

Traffic traffic(const char* name, std::uint32_t world) {
  return busiest(row(name), Topology(1, world));
}

TEST(Alltoall, EachSendsItsBlocksOnce) {
  for (std::uint32_t n = 1; n <= 64; ++n)
    EXPECT_EQ(traffic("direct", n), (Traffic{.messages = n - 1, .blocks = n - 1, .copies = 1}));
}

TEST(Alltoall, NobodyIsSentToByTwoInOneRound) {
  const Topology topology(1, 7);
  for (std::uint32_t k = 1; k < 7; ++k) {
    std::uint32_t seen = 0;
    for (std::uint32_t r = 0; r < 7; ++r)
      seen |= 1u << row("direct").round({topology, {}, Rank{r}, {}}, k).to.value;
    EXPECT_EQ(seen, 0b1111111u);
  }
}

}  // namespace
}  // namespace hocket::algo
