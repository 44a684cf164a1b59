// SPDX-License-Identifier: Apache-2.0
// Built at the preset's level of optimisation and at -O0 (CMakeLists.txt): what g++ 12 gets wrong
// about coroutines depends on it.
#include "async/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "async/loop.h"
#include "testing/cases.h"

namespace hocket {
namespace {

/// Counts its living copies, so that a local, parameter or result destroyed twice or never shows.
struct Counted {
  explicit Counted(int& count) : live(&count) { ++*live; }
  Counted(const Counted& other) : live(other.live) { ++*live; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --*live; }
  int* live;
};

struct NextTurn {
  Loop& loop;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) { loop.post(handle); }
  void await_resume() const {}
};

template <class T>
Result<T> run(Loop& loop, Task<T> task) {
  task.start();
  while (task.result() == nullptr) {
    if (!loop.turn(Instant{0})) return Error(Code::system, "stuck");
  }
  return std::move(*task.result());
}

Task<int> add_one(int n) { co_return n + 1; }

Task<int> count_to(int n) {
  int sum = 0;
  while (sum < n) {
    CO_TRY(sum, add_one(sum));
  }
  co_return sum;
}

TEST(Task, AMillionSynchronousAwaitsDoNotOverflowTheStack) {
  Task<int> task = count_to(1'000'000);
  EXPECT_EQ(task.result(), nullptr);  // lazy
  task.start();
  EXPECT_EQ(**task.result(), 1'000'000);
}

Task<int> add_one_later(Loop& loop, int n) {
  co_await NextTurn(loop);
  co_return n + 1;
}

Task<int> count_slowly_to(Loop& loop, int n) {
  int sum = 0;
  while (sum < n) {
    CO_TRY(sum, add_one_later(loop, sum));
  }
  co_return sum;
}

TEST(Task, ChildrenThatSuspendResumeTheirParents) {
  Loop loop;
  const int n = testing::cases(100'000);
  EXPECT_EQ(*run(loop, count_slowly_to(loop, n)), n);
}

Task<int> fails_at(Loop& loop, int depth, int& live, bool later) {
  const Counted local(live);
  if (later) {
    co_await NextTurn(loop);
  }
  if (depth == 0) co_return Error(Code::peer_lost, "the deepest").about_peer(Rank{3});
  CO_TRY(const int value, fails_at(loop, depth - 1, live, later));
  ADD_FAILURE() << "went on after an error, with " << value;
  co_return value;
}

TEST(Task, ErrorsGoUpAndEveryFrameEnds) {
  for (const bool later : {false, true}) {
    Loop loop;
    int live = 0;
    Result<int> result = run(loop, fails_at(loop, 20, live, later));
    EXPECT_EQ(result.error().text(), "peer 3: peer lost: the deepest");
    EXPECT_EQ(live, 0);
  }
}

Task<void> check(Loop& loop, bool good) {
  co_await NextTurn(loop);
  if (!good) co_return Error(Code::mismatch, "not good");
  co_return kOk;
}

Task<std::string> describe(Loop& loop, bool good) {
  CO_TRY_VOID(check(loop, true));
  CO_TRY_VOID(check(loop, good));
  co_return std::string("good");
}

Task<std::string> pass_on(Loop& loop, bool good) { co_return co_await describe(loop, good); }

TEST(Task, VoidChildrenAndPassingOn) {
  Loop loop;
  EXPECT_EQ(*run(loop, pass_on(loop, true)), "good");
  EXPECT_EQ(run(loop, pass_on(loop, false)).error().text(), "mismatch: not good");
}

Task<std::unique_ptr<int>> make(Loop& loop, std::unique_ptr<int> from, bool later) {
  if (later) {
    co_await NextTurn(loop);
  }
  co_return std::move(from);
}

Task<std::unique_ptr<int>> make_twice(Loop& loop, bool later) {
  CO_TRY(std::unique_ptr<int> once, make(loop, std::make_unique<int>(42), later));
  CO_TRY(once, make(loop, std::move(once), later));
  co_return std::move(once);
}

TEST(Task, ResultsAndParametersThatOnlyMove) {
  Loop loop;
  EXPECT_EQ(**run(loop, make_twice(loop, false)), 42);
  EXPECT_EQ(**run(loop, make_twice(loop, true)), 42);
}

Task<void> hold(Loop& loop, Counted parameter, int& live) {
  const Counted local(live);
  co_await NextTurn(loop);
  EXPECT_EQ(*parameter.live, *local.live);
  co_return kOk;
}

TEST(Task, EndsItsFrameWhereverItIs) {
  Loop loop;
  int live = 0;
  {
    const Task<void> never_started = hold(loop, Counted(live), live);
    EXPECT_EQ(live, 1);
  }
  EXPECT_EQ(live, 0);
  {
    Task<void> ended = hold(loop, Counted(live), live);
    Task<void> moved = std::move(ended);
    moved.start();
    EXPECT_EQ(live, 2);
    loop.turn(Instant{0});
    EXPECT_NE(moved.result(), nullptr);
    EXPECT_EQ(live, 1);  // the parameter is the frame's
  }
  EXPECT_EQ(live, 0);
}

/// An object with an arena, as a world or a rank has.
struct Host {
  Arena memory;
  Loop loop;
  Arena& arena() { return memory; }

  /// Not inlined: clang may see where the task ends and keep its frame on the stack.
  [[gnu::noinline]] Task<int> member(int n) {
    co_await NextTurn(loop);
    co_return n * 2;
  }
};

Task<int> first_parameter(Host& host, int n) {
  CO_TRY(const int twice, host.member(n));
  co_return twice + 1;
}

TEST(Task, FramesComeFromTheArenaOfTheFirstParameterOrTheObject) {
  Host host;
  EXPECT_EQ(*run(host.loop, add_one(1)), 2);
  EXPECT_EQ(host.memory.reserved_bytes(), 0u);
  EXPECT_EQ(*run(host.loop, host.member(4)), 8);
  const std::size_t block = host.memory.reserved_bytes();
  EXPECT_GT(block, 0u);
  for (int i = 0; i < testing::cases(10'000); ++i) {
    ASSERT_EQ(*run(host.loop, first_parameter(host, i)), 2 * i + 1);
  }
  EXPECT_EQ(host.memory.reserved_bytes(), block);  // each frame was given back
}

TEST(Task, FramesAreAligned) {
  struct Probe {
    static Task<bool> aligned(Host&) {
      const long double local = 1.0L;
      co_return reinterpret_cast<std::uintptr_t>(&local) % alignof(long double) == 0;
    }
  };
  Host host;
  EXPECT_TRUE(*run(host.loop, Probe::aligned(host)));
}

}  // namespace
}  // namespace hocket
