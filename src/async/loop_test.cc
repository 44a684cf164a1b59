// SPDX-License-Identifier: Apache-2.0
#include "async/loop.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "async/task.h"

namespace hocket {
namespace {

/// Suspends and comes back in the next turn.
struct NextTurn {
  Loop& loop;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) { loop.post(handle); }
  void await_resume() const {}
};

Task<void> take_turns(Loop& loop, int turns, std::string& log, char name) {
  for (int i = 0; i < turns; ++i) {
    co_await NextTurn(loop);
    log += name;
  }
  co_return kOk;
}

TEST(Loop, ResumesFirstInFirstOutAndWhatWasThereAtTheStart) {
  Loop loop;
  std::string log;
  Task<void> a = take_turns(loop, 2, log, 'a');
  Task<void> b = take_turns(loop, 3, log, 'b');
  EXPECT_TRUE(loop.idle());
  a.start();
  b.start();
  EXPECT_FALSE(loop.idle());
  EXPECT_TRUE(loop.turn(Instant{0}));
  EXPECT_EQ(log, "ab");
  EXPECT_TRUE(loop.turn(Instant{0}));
  EXPECT_EQ(log, "abab");
  EXPECT_TRUE(loop.turn(Instant{0}));
  EXPECT_EQ(log, "ababb");
  EXPECT_FALSE(loop.turn(Instant{0}));
  EXPECT_TRUE(loop.idle());
  EXPECT_NE(b.result(), nullptr);
}

class NotingMail final : public Mail {
 public:
  NotingMail(std::string& log, char name) : log_(log), name_(name) {}
  void delivered() override { log_ += name_; }

 private:
  std::string& log_;
  char name_;
};

class NotingTimer final : public Timer {
 public:
  explicit NotingTimer(std::string& log) : log_(log) {}

 private:
  void expired() override { log_ += 't'; }
  std::string& log_;
};

TEST(Loop, MailThenTimersThenHandles) {
  Loop loop;
  std::string log;
  Task<void> a = take_turns(loop, 1, log, 'a');
  NotingMail first(log, 'm'), second(log, 'n');
  NotingTimer timer(log);
  a.start();
  loop.add(timer, Instant{7});
  loop.deliver(first);
  loop.deliver(second);
  EXPECT_TRUE(loop.has_mail());
  EXPECT_EQ(loop.next_deadline(), Instant{7});
  EXPECT_TRUE(loop.turn(Instant{7}));
  EXPECT_EQ(log, "mnta");
  EXPECT_EQ(loop.next_deadline(), kNever);
  EXPECT_FALSE(loop.turn(Instant{8}));
}

TEST(Loop, TellsWhetherAnythingRan) {
  Loop loop;
  std::string log;
  NotingTimer timer(log);
  loop.add(timer, Instant{7});
  EXPECT_FALSE(loop.turn(Instant{6}));
  EXPECT_TRUE(loop.turn(Instant{7}));
  NotingMail mail(log, 'm');
  loop.deliver(mail);
  EXPECT_TRUE(loop.turn(Instant{7}));
  EXPECT_FALSE(loop.turn(Instant{7}));
}

/// Mail that the driver sends back to whoever waits for it, in another thread.
class Echo final : public Mail {
 public:
  void delivered() override { answered.add(1); }
  Word answered;
};

TEST(Loop, DeliversWhatManyThreadsPost) {
  constexpr std::uint32_t kThreads = 3, kEach = 2'000;
  Loop loop;
  Word finished;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      Echo echo;
      for (std::uint32_t i = 1; i <= kEach; ++i) {
        loop.deliver(echo);
        while (echo.answered.load() != i) std::this_thread::yield();
      }
      finished.add(1);
    });
  }
  while (finished.load() != kThreads) {
    if (!loop.turn(Instant{0})) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(loop.idle());
}

TEST(LoopDeathTest, ATurnWithinATurn) {
  struct Nested {
    static Task<void> turn(Loop& loop) {
      co_await NextTurn(loop);
      loop.turn(Instant{0});
      co_await NextTurn(loop);
      co_return kOk;
    }
    static Task<void> other(Loop& loop) {
      co_await NextTurn(loop);
      co_await NextTurn(loop);
      co_return kOk;
    }
  };
  EXPECT_DEATH(
      {
        Loop loop;
        Task<void> other = Nested::other(loop);
        Task<void> task = Nested::turn(loop);
        other.start();
        task.start();
        loop.turn(Instant{0});
      },
      "a turn within a turn");
}

}  // namespace
}  // namespace hocket
