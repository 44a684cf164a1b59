// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/prng.h"
#include "testing/cases.h"

namespace hocket {
namespace {

bool aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 16 == 0; }

TEST(Arena, TakesAgainWhatWasGivenInTheSameSizeClass) {
  Arena arena;
  EXPECT_EQ(arena.reserved_bytes(), 0u);
  void* const a = arena.take(40);
  void* const b = arena.take(64);
  EXPECT_NE(a, b);
  arena.give(a, 40);
  EXPECT_NE(arena.take(32), a);  // another class
  EXPECT_EQ(arena.take(33), a);  // 33..64 are one class
  arena.give(b, 64);
  arena.give(a, 33);
  EXPECT_EQ(arena.take(64), a);  // last in, first out: it is warm
  EXPECT_EQ(arena.take(64), b);
  EXPECT_EQ(arena.reserved_bytes(), 65'536u);
}

TEST(Arena, EverySizeIsAlignedAndItsOwn) {
  Arena arena;
  std::vector<std::pair<void*, std::size_t>> taken;
  for (std::size_t size = 1; size <= Arena::kLargest; size += size < 200 ? 1 : 97) {
    void* const memory = arena.take(size);
    EXPECT_TRUE(aligned(memory)) << size;
    std::memset(memory, static_cast<int>(size % 251), size);
    taken.emplace_back(memory, size);
  }
  for (const auto& [memory, size] : taken) {
    const auto* const bytes = static_cast<const unsigned char*>(memory);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(bytes[i], size % 251) << size;
    arena.give(memory, size);
  }
}

TEST(Arena, ASteadyStateReservesNothing) {
  Arena arena;
  std::vector<std::pair<void*, std::size_t>> taken;
  const auto once = [&] {
    Prng random(1);
    for (int i = 0; i < 1'000; ++i) {
      const std::size_t size = 1 + random.below(1'024);
      taken.emplace_back(arena.take(size), size);
    }
    for (const auto& [memory, size] : taken) arena.give(memory, size);
    taken.clear();
  };
  once();
  const std::size_t reserved = arena.reserved_bytes();
  EXPECT_LT(reserved, 700'000u);  // 1,000 times 528 bytes on average
  for (int i = 0; i < testing::cases(400); ++i) once();
  EXPECT_EQ(arena.reserved_bytes(), reserved);
}

TEST(ArenaDeathTest, RefusesNothingAndTooMuch) {
  Arena arena;
  EXPECT_DEATH(arena.take(0), "not for buffers");
  EXPECT_DEATH(arena.take(Arena::kLargest + 1), "not for buffers");
}

#ifdef __SANITIZE_ADDRESS__
TEST(ArenaDeathTest, AddressSanitizerSeesUseAfterGive) {
  Arena arena;
  auto* const memory = static_cast<unsigned char*>(arena.take(64));
  arena.give(memory, 64);
  EXPECT_DEATH(memory[40] = 1, "use-after-poison");
}
#endif

}  // namespace
}  // namespace hocket
