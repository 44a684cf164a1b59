// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace hocket {
namespace {

static_assert(sizeof(Result<void>) == sizeof(void*));
static_assert(!std::is_copy_constructible_v<Result<int>>);

Result<int> half(int n) {
  if (n % 2 != 0) return Error(Code::invalid_argument, std::to_string(n) + " is odd");
  return n / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = half(8);
  EXPECT_TRUE(good);
  EXPECT_TRUE(good.has_value());
  EXPECT_EQ(good.value(), 4);
  EXPECT_EQ(*good, 4);
  Result<int> bad = half(7);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().text(), "invalid argument: 7 is odd");
  good = std::move(bad);
  EXPECT_FALSE(good);
}

TEST(Result, CarriesWhatOnlyMoves) {
  Result<std::unique_ptr<std::string>> result = std::make_unique<std::string>("held");
  EXPECT_EQ(**result, "held");
  EXPECT_EQ((*result)->size(), 4u);
  EXPECT_EQ(result->get(), result.value().get());
  const std::unique_ptr<std::string> out = std::move(result).value();
  EXPECT_EQ(*out, "held");
}

TEST(Result, OfVoid) {
  Result<void> good;
  EXPECT_TRUE(good);
  EXPECT_TRUE(Result<void>(kOk).has_value());
  Result<void> bad = Error(Code::timeout, "late");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().code(), Code::timeout);
  good = std::move(bad);
  EXPECT_FALSE(good);
  EXPECT_EQ(std::as_const(good).error().message(), "late");
}

Result<int> eighth(int n) {
  TRY(const int a, half(n));
  TRY(auto b, half(a));
  TRY(b, half(b));  // into what exists
  return b;
}

Result<void> check_even(int n) {
  TRY_VOID(half(n));
  return kOk;
}

Result<std::string> describe(int n) {
  TRY_VOID(check_even(n));
  for (int i = 0; i < 2; ++i) {
    TRY_VOID(check_even(n + 2 * i));
  }
  return std::to_string(n) + " is even";
}

TEST(Result, TryPassesTheErrorOn) {
  EXPECT_EQ(*eighth(16), 2);
  EXPECT_EQ(eighth(12).error().message(), "3 is odd");
  EXPECT_EQ(*describe(4), "4 is even");
  EXPECT_EQ(describe(5).error().message(), "5 is odd");
}

Result<int> length(std::unique_ptr<std::string> text) {
  TRY(const std::unique_ptr<std::string> kept,
      Result<std::unique_ptr<std::string>>(std::move(text)));
  return static_cast<int>(kept->size());
}

TEST(Result, TryMovesTheValueAndTakesCommas) {
  EXPECT_EQ(*length(std::make_unique<std::string>("four")), 4);
  const auto pair = []() -> Result<int> {
    TRY(const auto both, Result<std::pair<int, int>>(std::pair<int, int>(3, 4)));
    return both.first * both.second;
  };
  EXPECT_EQ(*pair(), 12);
}

TEST(ResultDeathTest, TheWrongHalfIsAProgrammersError) {
  EXPECT_DEATH(half(7).value(), "result.h:.* value\\(\\) of a Result that holds an Error");
  EXPECT_DEATH(static_cast<void>(half(8).error()), "error\\(\\) of a Result that holds a value");
  EXPECT_DEATH(static_cast<void>(Result<void>().error()), "error\\(\\) of a Result without one");
}

}  // namespace
}  // namespace hocket
