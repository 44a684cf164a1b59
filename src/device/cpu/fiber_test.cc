// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/fiber.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>

#include "base/prng.h"

namespace hocket::cpu {
namespace {

struct Voice {
  Fiber fiber;
  char name = 'a';
  std::string* song = nullptr;

  static void sing(void* self) {
    auto& voice = *static_cast<Voice*>(self);
    for (int i = 0; i < 3; ++i) {
      *voice.song += voice.name;
      voice.fiber.suspend();
    }
    *voice.song += '.';
  }
};

TEST(Fiber, TakesTurns) {
  std::string song;
  Voice a, b;
  b.name = 'b';
  for (Voice* voice : {&a, &b}) {
    voice->song = &song;
    EXPECT_TRUE(voice->fiber.done());
    voice->fiber.start(Voice::sing, voice);
  }
  for (int i = 0; i < 4; ++i)
    for (Voice* voice : {&a, &b}) {
      EXPECT_FALSE(voice->fiber.done());
      voice->fiber.resume();
    }
  EXPECT_EQ(song, "ababab..");
  EXPECT_TRUE(a.fiber.done());
}

TEST(Fiber, RunsOneFunctionAfterAnother) {
  std::string song;
  Voice a;
  a.song = &song;
  for (int i = 0; i < 3; ++i) {
    a.fiber.start(Voice::sing, &a);
    while (!a.fiber.done()) a.fiber.resume();
  }
  EXPECT_EQ(song, "aaa.aaa.aaa.");
}

// What is on a stack stays there, floating point included, whoever else runs meanwhile.
struct Adder {
  Fiber fiber;
  Prng random{0};
  double sum = 0;

  double add(int depth) {
    std::array<double, 32> terms;
    for (double& term : terms) {
      term = static_cast<double>(random.below(1 << 20));
      fiber.suspend();
    }
    double total = depth > 0 ? add(depth - 1) : 0;
    for (const double term : terms) total += term;
    return total;
  }
  static void run(void* self) {
    auto& adder = *static_cast<Adder*>(self);
    adder.sum = adder.add(5);
  }
};

TEST(Fiber, KeepsItsStack) {
  std::deque<Adder> adders(50);
  for (Adder& adder : adders) adder.fiber.start(Adder::run, &adder);
  Prng random(1);
  for (bool left = true; left;) {
    left = false;
    for (Adder& adder : adders) {
      if (adder.fiber.done()) continue;
      left = true;
      if (random.below(2) == 0) adder.fiber.resume();
    }
  }
  Prng same{0};
  double expected = 0;
  for (int i = 0; i < 6 * 32; ++i) expected += static_cast<double>(same.below(1 << 20));
  for (const Adder& adder : adders) EXPECT_EQ(adder.sum, expected);
}

TEST(Fiber, MayBeLeftUnfinished) {
  std::string song;
  Voice a;
  a.song = &song;
  a.fiber.start(Voice::sing, &a);
  a.fiber.resume();
  EXPECT_EQ(song, "a");
}

TEST(FiberDeathTest, FaultsWhenItsStackOverflows) {
  struct Deep {
    static int dive(int depth) {
      std::array<char, 1024> frame;
      frame.fill(static_cast<char>(depth));
      const int below = depth > 0 ? dive(depth - 1) : 0;
      return below + frame[static_cast<std::size_t>(depth) % 1024];
    }
    static void run(void* depth) { *static_cast<int*>(depth) = dive(*static_cast<int*>(depth)); }
  };
  int depth = 1'000;
  EXPECT_DEATH(
      {
        Fiber fiber;
        fiber.start(Deep::run, &depth);
        fiber.resume();
      },
      "");
}

}  // namespace
}  // namespace hocket::cpu
