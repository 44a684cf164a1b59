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

TEST(Barrier, DirectSignalsEverybodyAtOnce) {
  for (std::uint32_t n = 1; n <= 64; ++n)
    EXPECT_EQ(traffic("direct", n), (Traffic{.messages = n - 1}));
  const Topology topology(1, 7);
  std::uint32_t seen = 0;
  for (std::uint32_t k = 0; k < 6; ++k) {
    const Exchange x = row("direct").round({topology, {}, Rank{2}, {}}, k);
    EXPECT_EQ(x.after, 0u);
    seen |= 1u << x.to.value;
  }
  EXPECT_EQ(seen, 0b1111011u);
}

}  // namespace
}  // namespace hocket::algo
