// SPDX-License-Identifier: Apache-2.0
// Event, Semaphore and Queue, and the three ways in which a wait ends, which they share.
#include "async/wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "async/async.h"

namespace hocket {
namespace {

/// Notes "NAME" or "NAME: ERROR" when the wait ends.
Task<void> wait_for(Event& event, const Until until, std::string name,
                    std::vector<std::string>& log) {
  Result<void> result = co_await event.wait(until);
  log.push_back(result ? name : name + ": " + result.error().text());
  co_return kOk;
}

class WaitTest : public ::testing::Test {
 protected:
  void turn(std::int64_t at = 0) { loop.turn(Instant{at}); }

  Loop loop;
  CancelSource source;
  std::vector<std::string> log;
  using Log = std::vector<std::string>;
};

TEST_F(WaitTest, AnEventWakesAllInTheirOrderInTheNextTurn) {
  Event event(loop);
  const Until until{"it"};
  Task<void> a = wait_for(event, until, "a", log);
  Task<void> b = wait_for(event, until, "b", log);
  b.start();
  a.start();
  turn();
  EXPECT_EQ(log, Log{});
  event.set();
  EXPECT_EQ(log, Log{});  // not inside set()
  turn();
  EXPECT_EQ(log, (Log{"b", "a"}));
  Task<void> c = wait_for(event, until, "c", log);
  c.start();  // does not suspend: it has happened
  EXPECT_EQ(log, (Log{"b", "a", "c"}));
  EXPECT_TRUE(event.is_set());
}

TEST_F(WaitTest, AnEventMayHappenAgain) {
  Event event(loop);
  const Until until{"it"};
  Task<void> a = wait_for(event, until, "a", log);
  a.start();
  event.set();
  event.reset();
  Task<void> b = wait_for(event, until, "b", log);
  b.start();
  turn();
  EXPECT_EQ(log, (Log{"a"}));
  event.set();
  turn();
  EXPECT_EQ(log, (Log{"a", "b"}));
}

TEST_F(WaitTest, ADeadlineNamesWhatWasWaitedFor) {
  Event event(loop);
  const Until until{"the parent's table", Instant{100}, source};
  Task<void> a = wait_for(event, until, "a", log);
  a.start();
  EXPECT_EQ(loop.next_deadline(), Instant{100});
  turn(99);
  EXPECT_EQ(log, Log{});
  turn(100);
  EXPECT_EQ(log, (Log{"a: timeout: waited for the parent's table"}));
  event.set();
  source.cancel();
  EXPECT_TRUE(loop.idle());
}

TEST_F(WaitTest, CancellingWakesTheOldestFirstAndDisarms) {
  Event event(loop), other(loop);
  const Until until{"it", Instant{100}, source};
  Task<void> a = wait_for(event, until, "a", log);
  Task<void> b = wait_for(other, until, "b", log);
  a.start();
  b.start();
  EXPECT_FALSE(source.cancelled());
  source.cancel();
  source.cancel();
  EXPECT_TRUE(source.cancelled());
  EXPECT_EQ(loop.next_deadline(), kNever);
  event.set();  // too late
  turn();
  EXPECT_EQ(log,
            (Log{"a: cancelled: gave up waiting for it", "b: cancelled: gave up waiting for it"}));
  Task<void> c = wait_for(event, until, "c", log);
  c.start();  // although it has happened
  EXPECT_EQ(log.back(), "c: cancelled: gave up waiting for it");
}

TEST_F(WaitTest, WhatWasGrantedFirstStays) {
  Event event(loop);
  const Until until{"it", Instant{100}, source};
  Task<void> a = wait_for(event, until, "a", log);
  a.start();
  event.set();
  source.cancel();
  turn(100);
  EXPECT_EQ(log, (Log{"a"}));
}

class Hook final : public CancelHook {
 public:
  explicit Hook(int& calls) : calls_(calls) {}
  Hook* takes_off = nullptr;

 private:
  void cancelled() override {
    ++calls_;
    if (takes_off != nullptr) takes_off->leave_list();
  }
  int& calls_;
};

TEST(Cancel, AHookMayTakeAnotherOff) {
  int calls_a = 0, calls_b = 0;
  CancelSource source;
  const CancelToken token = source;
  Hook a(calls_a), b(calls_b);
  a.takes_off = &b;
  token.add(a);
  token.add(b);
  source.cancel();
  EXPECT_EQ(calls_a, 1);
  EXPECT_EQ(calls_b, 0);
}

TEST(Cancel, ATokenWithoutASourceIsNeverCancelled) {
  int calls = 0;
  Hook hook(calls);
  CancelToken().add(hook);
  EXPECT_FALSE(hook.listed());
  EXPECT_FALSE(CancelToken().cancelled());
}

TEST(CancelDeathTest, NoHookAfterwards) {
  CancelSource source;
  source.cancel();
  int calls = 0;
  Hook hook(calls);
  EXPECT_DEATH(CancelToken(source).add(hook), "would never be called");
}

Task<void> work_under(Semaphore& semaphore, const Until until, Event& finish, std::string& log) {
  CO_TRY_VOID(semaphore.acquire(until));
  log = "has it";
  const Until end{"the end of the work", until.deadline, until.token};
  Result<void> done = co_await finish.wait(end);
  semaphore.release();
  co_return done;
}

TEST_F(WaitTest, ASemaphoreServesInOrderAndNobodyOvertakes) {
  Semaphore semaphore(loop, 2);
  Event finish_a(loop), finish_rest(loop);
  const Until until{"a permit", kNever, source};
  std::string log_a, log_b, log_c, log_d;
  Task<void> a = work_under(semaphore, until, finish_a, log_a);
  Task<void> b = work_under(semaphore, until, finish_rest, log_b);
  Task<void> c = work_under(semaphore, until, finish_rest, log_c);
  Task<void> d = work_under(semaphore, until, finish_rest, log_d);
  for (Task<void>* task : {&a, &b, &c, &d}) task->start();
  EXPECT_EQ(log_a + log_b + log_c, "has ithas it");
  EXPECT_EQ(semaphore.free(), 0u);
  finish_a.set();
  turn();                                 // a releases: c is granted, not resumed yet
  EXPECT_FALSE(semaphore.try_acquire());  // the permit is c's already
  EXPECT_EQ(log_c, "");
  turn();
  EXPECT_EQ(log_c, "has it");
  source.cancel();  // b and c while they work, d while it waits
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_TRUE(*a.result());
  EXPECT_EQ(b.result()->error().text(), "cancelled: gave up waiting for the end of the work");
  EXPECT_EQ(d.result()->error().text(), "cancelled: gave up waiting for a permit");
  EXPECT_EQ(log_d, "");
  EXPECT_EQ(semaphore.free(), 2u);
  EXPECT_TRUE(loop.idle());
}

using Letter = std::unique_ptr<std::string>;

Task<void> read_from(Queue<Letter>& queue, const Until until, int count,
                     std::vector<std::string>& log) {
  for (int i = 0; i < count; ++i) {
    CO_TRY(const Letter letter, queue.pop(until));
    log.push_back(*letter);
  }
  co_return kOk;
}

TEST_F(WaitTest, AQueueIsBoundedAndFirstInFirstOut) {
  Queue<Letter> queue(loop, 3);
  for (const char* text : {"1", "2", "3"}) {
    EXPECT_TRUE(queue.try_push(std::make_unique<std::string>(text)));
  }
  Letter more = std::make_unique<std::string>("4");
  EXPECT_FALSE(queue.try_push(std::move(more)));
  EXPECT_NE(more, nullptr);
  EXPECT_EQ(**queue.try_pop(), "1");
  EXPECT_TRUE(queue.try_push(std::move(more)));
  EXPECT_EQ(queue.size(), 3u);
  const Until until{"a letter"};
  Task<void> reader = read_from(queue, until, 3, log);
  reader.start();  // all are there: no turn is needed
  EXPECT_EQ(log, (Log{"2", "3", "4"}));
  EXPECT_TRUE(*reader.result());
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST_F(WaitTest, AQueueHandsOverToTheOldestWait) {
  Queue<Letter> queue(loop, 1);
  const Until until{"a letter", Instant{50}, source};
  Task<void> a = read_from(queue, until, 2, log);
  Task<void> b = read_from(queue, until, 2, log);
  a.start();
  b.start();
  for (const char* text : {"a1", "b1", "kept"}) {
    EXPECT_TRUE(queue.try_push(std::make_unique<std::string>(text)));
  }
  EXPECT_EQ(queue.size(), 1u);
  source.cancel();  // a and b have theirs already; it hits their second pop
  turn();
  EXPECT_EQ(log, (Log{"a1", "b1"}));
  EXPECT_EQ(a.result()->error().text(), "cancelled: gave up waiting for a letter");
  EXPECT_EQ(b.result()->error().text(), "cancelled: gave up waiting for a letter");
  EXPECT_EQ(queue.size(), 1u);
}

TEST_F(WaitTest, AQueueTimesOut) {
  Queue<Letter> queue(loop, 1);
  const Until until{"a letter", Instant{50}, source};
  Task<void> a = read_from(queue, until, 1, log);
  a.start();
  turn(50);
  EXPECT_EQ(a.result()->error().code(), Code::timeout);
  EXPECT_TRUE(queue.try_push(std::make_unique<std::string>("kept")));
  EXPECT_EQ(queue.size(), 1u);
}

}  // namespace
}  // namespace hocket
