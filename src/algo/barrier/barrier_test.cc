// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "algo/circle.h"
#include "algo/table.h"
#include "algo/traffic.h"

namespace hocket::algo {
namespace {

const Algorithm& row(const char* name) { return *find(Collective::barrier, name); }

Traffic traffic(const char* name, std::uint32_t world) {
  return busiest(row(name), Topology(1, world));
}

TEST(Barrier, SignalsTheLogarithmOfTheWorld) {
  for (std::uint32_t n = 1; n <= 64; ++n)
    EXPECT_EQ(traffic("halving_doubling", n), (Traffic{.messages = log2_ceil(n)}));
}

}  // namespace
}  // namespace hocket::algo
