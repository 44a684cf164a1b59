// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "algo/circle.h"
#include "algo/table.h"
#include "algo/traffic.h"

namespace hocket::algo {
namespace {

const Algorithm& row(const char* name) { return *find(Collective::reduce_scatter, name); }

Traffic traffic(const char* name, std::uint32_t world) {
  return busiest(row(name), Topology(1, world));
}

TEST(ReduceScatter, EachSendsAndAddsTheLeastPossible) {
  for (std::uint32_t n = 2; n <= 64; ++n) {
    const Traffic least{.messages = n - 1, .blocks = n - 1, .folds = n - 1};
    EXPECT_EQ(traffic("ring", n), least);
    EXPECT_EQ(traffic("direct", n), least);
    EXPECT_EQ(
        traffic("halving_doubling", n),
        (Traffic{.messages = log2_ceil(n), .blocks = n - 1, .folds = n - 1, .copies = n % 2}));
  }
  for (const char* name : {"ring", "halving_doubling", "direct"})
    EXPECT_EQ(traffic(name, 1), (Traffic{.copies = 1})) << name;
}

TEST(ReduceScatter, OnlyTheLastFoldGoesToTheOutput) {
  const Topology topology(1, 11);
  for (const char* name : {"ring", "halving_doubling"}) {
    const std::uint32_t rounds = row(name).shape(topology).rounds;
    for (std::uint32_t k = 0; k < rounds; ++k)
      EXPECT_EQ(row(name).round({topology, {}, Rank{4}, {}}, k).in.buffer,
                k + 1 == rounds ? Buffer::output : Buffer::scratch)
          << name << " round " << k;
  }
}

}  // namespace
}  // namespace hocket::algo
