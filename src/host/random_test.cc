// SPDX-License-Identifier: Apache-2.0
#include "host/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace hocket::host {
namespace {

TEST(Random, FillsAllOfTheTarget) {
  Random random;
  std::array<std::byte, 1'000> a{}, b{};
  EXPECT_TRUE(random.fill({a.data() + 1, 998}));
  EXPECT_TRUE(random.fill({b.data(), b.size()}));
  EXPECT_EQ(a.front(), std::byte{0});
  EXPECT_EQ(a.back(), std::byte{0});
  EXPECT_NE(a, b);
  // About four of 998 bytes are zero; thirty would be one chance in 10^15.
  EXPECT_LT(std::count(a.begin() + 1, a.end() - 1, std::byte{0}), 30);
  EXPECT_TRUE(random.fill({}));
}

TEST(Random, SaysWhatTheKernelRefused) {
  const Result<void> filled = Random().fill({nullptr, 16});
  EXPECT_EQ(filled.error().text(), "system error: getrandom of 16 bytes: Bad address");
}

}  // namespace
}  // namespace hocket::host
