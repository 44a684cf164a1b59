// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "algo/circle.h"
#include "algo/table.h"
#include "algo/traffic.h"

namespace hocket::algo {
namespace {

TEST(SendRecv, IsHalfAnExchange) {
  const Algorithm& direct = *find(Collective::send_recv, "direct");
  const Topology topology(1, 4);
  Request request{.collective = Collective::send_recv, .sends = true, .root = Rank{3}};
  Exchange sent = direct.round({topology, request, Rank{1}, {}}, 0);
  EXPECT_EQ(sent.to, Rank{3});
  EXPECT_EQ(sent.from, kNobody);
  EXPECT_EQ(sent.out.buffer, Buffer::input);
  EXPECT_TRUE(sent.staged);

  request.sends = false;
  request.root = Rank{1};
  const Exchange received = direct.round({topology, request, Rank{3}, {}}, 0);
  EXPECT_EQ(received.to, kNobody);
  EXPECT_EQ(received.from, Rank{1});
  EXPECT_EQ(received.in.count, 1u);

  request.root = Rank{3};
  sent = direct.round({topology, request, Rank{3}, {}}, 0);
  EXPECT_EQ(sent.to, Rank{3});
  EXPECT_EQ(sent.from, Rank{3});
}

}  // namespace
}  // namespace hocket::algo
