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

TEST(Reduce, BinomialTakesTheLogarithm) {
  EXPECT_EQ(traffic("binomial", 1), (Traffic{.copies = 1}));
  for (std::uint32_t n = 2; n <= 64; ++n) {
    EXPECT_EQ(traffic("binomial", n), (Traffic{.messages = 1, .blocks = 1, .folds = log2_ceil(n)}));
    EXPECT_EQ(row("binomial").shape(Topology(1, n)).rounds, log2_ceil(n));
  }
}

TEST(Reduce, BinomialLeavesANodeOnce) {
  const Topology topology(4, 8);
  EXPECT_EQ(busiest(row("binomial"), topology).abroad, 1u);
  for (std::uint32_t r = 0; r < 32; ++r)
    for (std::uint32_t k = 0; k < 5; ++k) {
      const Exchange x = row("binomial").round({topology, {}, Rank{r}, {}}, k);
      if (x.to == kNobody) continue;
      EXPECT_EQ(topology.between(Rank{r}, x.to) == LinkClass::rail, r % 8 == 0) << r;
    }
}

TEST(Reduce, DirectSendsOnceAndAddsAtTheRoot) {
  EXPECT_EQ(traffic("direct", 1), (Traffic{.copies = 1}));
  for (std::uint32_t n = 2; n <= 64; ++n)
    EXPECT_EQ(traffic("direct", n), (Traffic{.messages = 1, .blocks = 1, .folds = n - 1}));
  const Topology topology(1, 5);
  const Request request{.collective = Collective::reduce, .root = Rank{3}};
  for (std::uint32_t r = 0; r < 5; ++r)
    for (std::uint32_t k = 0; k < 4; ++k) {
      const Exchange x = row("direct").round({topology, request, Rank{r}, {}}, k);
      const std::uint32_t sender = (3 + 5 - k - 1) % 5;
      EXPECT_EQ(x.from, r == 3 ? Rank{sender} : kNobody);
      EXPECT_EQ(x.to, r == sender ? Rank{3} : kNobody);
      EXPECT_EQ(x.after, 0u);
    }
}

}  // namespace
}  // namespace hocket::algo
