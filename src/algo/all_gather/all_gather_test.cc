// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "algo/circle.h"
#include "algo/table.h"
#include "algo/traffic.h"

namespace hocket::algo {
namespace {

const Algorithm& row(const char* name) { return *find(Collective::all_gather, name); }

Traffic traffic(const char* name, std::uint32_t world) {
  return busiest(row(name), Topology(1, world));
}

TEST(AllGather, EachSendsTheLeastPossible) {
  for (std::uint32_t n = 1; n <= 64; ++n) {
    const Traffic least{.messages = n - 1, .blocks = n - 1, .copies = 1};
    EXPECT_EQ(traffic("ring", n), least);
    EXPECT_EQ(traffic("direct", n), least);
    EXPECT_EQ(traffic("halving_doubling", n),
              (Traffic{.messages = log2_ceil(n), .blocks = n - 1, .copies = 1}));
  }
}

TEST(AllGather, SendsOfTheInputDoNotWaitForTheCopyOfIt) {
  const Topology topology(1, 6);
  for (const char* name : {"ring", "halving_doubling", "direct"}) {
    const Exchange x = row(name).round({topology, {}, Rank{3}, {}}, 1);
    EXPECT_EQ(x.out.buffer, Buffer::input) << name;
    EXPECT_EQ(x.after, 0u) << name;
  }
}

}  // namespace
}  // namespace hocket::algo
