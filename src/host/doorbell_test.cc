// SPDX-License-Identifier: Apache-2.0
// Also run under ThreadSanitizer.
#include "host/doorbell.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "host/clock.h"
#include "testing/cases.h"

namespace hocket::host {
namespace {

TEST(Doorbell, ARingAfterTheTicketEndsTheWaitAtOnce) {
  Doorbell bell;
  const std::uint32_t ticket = bell.ticket();
  bell.ring();
  bell.wait(ticket, kForever);
  EXPECT_NE(bell.ticket(), ticket);
}

TEST(Doorbell, ARingBeforeTheTicketDoesNot) {
  Clock clock;
  Doorbell bell;
  bell.ring();
  const Instant before = clock.now();
  bell.wait(bell.ticket(), milliseconds(10));
  EXPECT_GE(clock.now() - before, milliseconds(10));
}

TEST(Doorbell, NoTimeIsNoWait) {
  Doorbell bell;
  bell.wait(bell.ticket(), Duration{0});
  bell.wait(bell.ticket(), Duration{-1});
}

TEST(Doorbell, WakesEveryWaiter) {
  Doorbell bell;
  Word waiting, go;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (go.load() == 0) {
        const std::uint32_t ticket = bell.ticket();
        if (go.load() != 0) break;
        waiting.add(1);
        bell.wait(ticket, kForever);
      }
    });
  }
  while (waiting.load() < 3) bell.yield();
  go.store(1);
  bell.ring();
  for (std::thread& thread : threads) thread.join();
}

/// Two threads take turns; each change must reach the other, or both would sleep for ever.
TEST(Doorbell, LosesNoRing) {
  const auto rounds = static_cast<std::uint32_t>(testing::cases(20'000));
  Doorbell bells[2];
  Word turn;  // even: thread 0's
  const auto play = [&](std::uint32_t me) {
    for (std::uint32_t i = 0; i < rounds; ++i) {
      while (turn.load() % 2 != me) {
        const std::uint32_t ticket = bells[me].ticket();
        if (turn.load() % 2 == me) break;
        bells[me].wait(ticket, kForever);
      }
      turn.add(1);
      bells[1 - me].ring();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), 2 * rounds);
}

}  // namespace
}  // namespace hocket::host
