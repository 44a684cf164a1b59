// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/parking.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "async/task.h"
#include "transport/shm/membership.h"

namespace hocket::transport::shm {
namespace {

// Waiters that note when they are resumed, and then do what the test wants.
class Parked : public ::testing::Test {
 public:
  static constexpr std::size_t kWaiters = 4;
  struct Slot {
    world::Waiter waiter;
    bool is_ready = false;
    void (*then)(Parked&) = nullptr;
  };
  struct Park {
    Parked& test;
    Slot& slot;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
      slot.waiter.handle = handle;
      test.parking_.park(slot.waiter);
    }
    void await_resume() const {}
  };
  Task<void> live(std::uint32_t i) {
    while (true) {
      Park park{*this, slots_[i]};
      co_await park;
      resumed_.push_back(i);
      if (slots_[i].then != nullptr) slots_[i].then(*this);
    }
  }
  void start() {
    for (std::uint32_t i = 0; i < kWaiters; ++i) {
      slots_[i].waiter.owner = Rank{i};
      tasks_.push_back(live(i));
      tasks_.back().start();
    }
  }
  bool poll() {
    resumed_.clear();
    return parking_.poll([this](world::Waiter& w) { return slots_[w.owner.value].is_ready; });
  }
  void set_ready(std::initializer_list<std::uint32_t> which) {
    for (Slot& slot : slots_) slot.is_ready = false;
    for (const std::uint32_t i : which) slots_[i].is_ready = true;
  }
  Parking parking_;
  std::array<Slot, kWaiters> slots_;
  std::vector<Task<void>> tasks_;
  std::vector<std::uint32_t> resumed_;
};

using Order = std::vector<std::uint32_t>;

TEST_F(Parked, AreResumedInTheOrderOfParking) {
  start();
  EXPECT_FALSE(poll());
  set_ready({0, 2});
  EXPECT_TRUE(poll());
  EXPECT_EQ(resumed_, (Order{0, 2}));
  set_ready({0, 1, 2, 3});
  EXPECT_TRUE(poll());
  EXPECT_EQ(resumed_, (Order{1, 3, 0, 2})) << "who parked again comes after who waited";
}

TEST_F(Parked, AreLookedAtOnceAPoll) {
  start();
  set_ready({0, 1, 2, 3});
  EXPECT_TRUE(poll());
  EXPECT_EQ(resumed_, (Order{0, 1, 2, 3}));
}

TEST_F(Parked, MayUnparkAnybodyWhenResumed) {
  start();
  slots_[1].then = [](Parked& test) {
    for (const std::uint32_t i : {0u, 2u})
      if (test.slots_[i].waiter.parked) test.parking_.unpark(test.slots_[i].waiter);
  };
  set_ready({1, 3});
  EXPECT_TRUE(poll());
  EXPECT_EQ(resumed_, (Order{1, 3}));
  EXPECT_FALSE(slots_[0].waiter.parked);
  EXPECT_FALSE(slots_[2].waiter.parked);
  set_ready({0, 1, 2, 3});
  EXPECT_TRUE(poll());
  EXPECT_EQ(resumed_, (Order{1, 3}));
}

TEST_F(Parked, MayUnparkTheLast) {
  start();
  parking_.unpark(slots_[3].waiter);
  parking_.unpark(slots_[0].waiter);
  parking_.park(slots_[0].waiter);
  set_ready({0, 1, 2, 3});
  EXPECT_TRUE(poll());
  EXPECT_EQ(resumed_, (Order{1, 2, 0}));
}

class ManualClock final : public world::Clock {
 public:
  Instant now() override {
    ++looks;
    return time;
  }
  Instant time;
  int looks = 0;
};

TEST(Cadences, LookAtTheClockSeldomWhenAskedAllTheTime) {
  ManualClock clock;
  Cadence cadence(clock, milliseconds(4));
  int due = 0;
  constexpr int kAsked = 1'000'000;  // 40 ns apart
  for (int i = 0; i < kAsked; ++i) {
    clock.time = clock.time + nanoseconds(40);
    due += cadence.is_due() ? 1 : 0;
  }
  EXPECT_EQ(due, 9);
  EXPECT_LT(clock.looks, kAsked / 50);
}

TEST(Cadences, AreInTimeWhenAskedNowAndThen) {
  ManualClock clock;
  Cadence cadence(clock, milliseconds(4));
  for (int i = 0; i < 1000; ++i) cadence.is_due();
  int asked = 0;
  do {
    clock.time = clock.time + milliseconds(1);
    ++asked;
  } while (!cadence.is_due());
  EXPECT_LE(asked, 64);
  int due = 0;
  for (int i = 0; i < 1000; ++i) {
    clock.time = clock.time + milliseconds(1);
    due += cadence.is_due() ? 1 : 0;
  }
  EXPECT_GT(due, 200);
}

}  // namespace
}  // namespace hocket::transport::shm
