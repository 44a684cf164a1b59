// SPDX-License-Identifier: Apache-2.0
#include "base/list.h"

#include <gtest/gtest.h>

#include <vector>

namespace hocket {
namespace {

struct Number : ListItem<Number> {
  explicit Number(int n) : value(n) {}
  int value;
};

std::vector<int> drain(List<Number>& list) {
  std::vector<int> values;
  while (Number* number = list.front()) {
    number->leave_list();
    values.push_back(number->value);
  }
  return values;
}

TEST(List, FirstInFirstOut) {
  List<Number> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  Number one(1), two(2), three(3);
  list.push_back(one);
  list.push_back(two);
  list.push_back(three);
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(list.front(), &one);
  EXPECT_EQ(drain(list), (std::vector{1, 2, 3}));
  EXPECT_TRUE(list.empty());
}

TEST(List, AnItemLeavesFromAnywhereAndMayComeBack) {
  List<Number> list, other;
  Number one(1), two(2), three(3);
  for (Number* number : {&one, &two, &three}) list.push_back(*number);
  two.leave_list();
  EXPECT_FALSE(two.listed());
  two.leave_list();  // nothing happens
  other.push_back(two);
  EXPECT_TRUE(two.listed());
  one.leave_list();
  list.push_back(one);
  EXPECT_EQ(drain(list), (std::vector{3, 1}));
  EXPECT_EQ(drain(other), (std::vector{2}));
}

TEST(ListDeathTest, EndsEmptyAndItemsEndOutside) {
  EXPECT_DEATH(
      {
        List<Number> list;
        Number one(1);
        list.push_back(one);
      },
      "an item ended while in a list");
  EXPECT_DEATH(
      {
        Number one(1);
        List<Number> list;
        list.push_back(one);
      },
      "an item ended while in a list");
  EXPECT_DEATH(
      {
        Number one(1);
        List<Number> list;
        list.push_back(one);
        list.push_back(one);
      },
      "an item is in one list at a time");
}

}  // namespace
}  // namespace hocket
