// SPDX-License-Identifier: Apache-2.0
#include "base/array.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <span>

namespace hocket {
namespace {

TEST(Array, KeepsItsItemsAsItGrows) {
  Array<std::unique_ptr<int>> array;
  EXPECT_TRUE(array.empty());
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(array.push_back(std::make_unique<int>(i)));
  ASSERT_EQ(array.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(*array[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(*array.back(), 999);
  EXPECT_EQ(*array.front(), 0);
}

TEST(Array, KeepsItsMemoryWhenCleared) {
  Array<int> array;
  ASSERT_TRUE(array.reserve(10));
  const int* const items = array.data();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) array.add(i);
    EXPECT_EQ(std::accumulate(array.begin(), array.end(), 0), 45);
    array.clear();
    EXPECT_TRUE(array.empty());
  }
  EXPECT_EQ(array.data(), items);
}

TEST(Array, IsASpanAndMoves) {
  Array<int> array;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(array.push_back(i));
  const std::span<const int> all = array;
  EXPECT_EQ(all.size(), 3u);
  Array<int> other = std::move(array);
  EXPECT_EQ(other.data(), all.data());
  EXPECT_EQ(array.size(), 0u);  // NOLINT: what is left is empty
  array = std::move(other);
  EXPECT_EQ(array.data(), all.data());
}

// Sanitizers end a process that asks for too much; that memory is refused is in allocations_test.
TEST(Array, HoldsNoMoreThanItCanCount) {
  Array<std::uint8_t> array;
  ASSERT_TRUE(array.push_back(7));
  EXPECT_FALSE(array.reserve(std::size_t{1} << 33));
  EXPECT_EQ(array.size(), 1u);
  EXPECT_EQ(array[0], 7u);
}

TEST(Array, AddsOnlyWhatThereIsRoomFor) {
  Array<int> array;
  EXPECT_DEATH(array.add(1), "for which no room was reserved");
}

TEST(Memory, IsLeft) { EXPECT_TRUE(is_memory_left(1 << 16)); }

}  // namespace
}  // namespace hocket
