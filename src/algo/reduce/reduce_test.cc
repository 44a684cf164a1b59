// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "algo/circle.h"
#include "algo/table.h"
#include "algo/traffic.h"

namespace hocket::algo {
namespace {

const Algorithm& row(const char* name) { return *find(Collective::reduce, name); }

Traffic traffic(const char* name, std::uint32_t world) {
  return busiest(row(name), Topology(1, world));
}

TEST(Reduce, ChainAddsAndSendsOnce) {
  EXPECT_EQ(traffic("chain", 1), (Traffic{.copies = 1}));
  for (std::uint32_t n = 2; n <= 64; ++n) {
    EXPECT_EQ(traffic("chain", n), (Traffic{.messages = 1, .blocks = 1, .folds = 1}));
    EXPECT_EQ(row("chain").depth(Topology(1, n)), n - 1);
  }
}

}  // namespace
}  // namespace hocket::algo
