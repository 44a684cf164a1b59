// SPDX-License-Identifier: Apache-2.0
// Who drives, how the others wait, and that nobody sleeps beside work: by one thread in a time of
// its own, and by real threads.
#include "engine/process.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/fake_streams_suite.h"
#include "engine/fake_world_suite.h"
#include "host/clock.h"
#include "host/doorbell.h"

namespace hocket::engine {
namespace {

Op& submit_barrier(Communicator& rank) {
  Call call;
  call.request.collective = Collective::barrier;
  Result<Op*> op = rank.submit({&call, 1});
  EXPECT_TRUE(op);
  return **op;
}

// ---- one thread, in its own time ---------------------------------------------------------------

class AloneTest : public ::testing::Test {
 protected:
  AloneTest() { world_.emplace(process_, clock_, 2); }
  /// Rank 0's barrier; rank 1 has not come.
  Op& begin() { return submit_barrier(world_->ranks[0]); }
  void finish(Op& op) {
    Op& other = submit_barrier(world_->ranks[1]);
    EXPECT_TRUE(process_.wait(op, seconds(1)));
    EXPECT_TRUE(process_.wait(other, seconds(1)));
    op.communicator().release(op);
    other.communicator().release(other);
  }

  fake::Clock clock_;
  fake::Bell callers_{clock_}, progress_{clock_};
  Process process_{clock_, callers_, progress_};
  std::optional<fake::World> world_;
};

TEST_F(AloneTest, AWaitThatEndsLeavesTheOpRunning) {
  Op& op = begin();
  for (const std::int64_t ms : {0, 1, 7, 100}) {
    const Instant start = clock_.now();
    EXPECT_FALSE(process_.wait(op, milliseconds(ms)));
    const Duration taken = clock_.now() - start;
    EXPECT_GE(taken, milliseconds(ms));
    EXPECT_LE(taken, milliseconds(ms + 1));  // a nap at most
    EXPECT_FALSE(op.done());
    EXPECT_FALSE(op.failed());
  }
  finish(op);
}

// Callers ask in a loop, and the ranks that share their core want it too.
TEST_F(AloneTest, AskingLetsOthersHaveASharedCore) {
  Op& op = begin();
  const Instant start = clock_.now();
  EXPECT_FALSE(process_.test(op));
  EXPECT_EQ(clock_.now() - start, nanoseconds(300));  // one yield
  finish(op);
}

TEST_F(AloneTest, AskingKeepsACoreOfItsOwn) {
  fake::Bell roomy(clock_);
  roomy.core_count = 2;
  Process process(clock_, roomy, progress_);
  fake::World world(process, clock_, 2);
  Op& op = submit_barrier(world.ranks[0]);
  const Instant start = clock_.now();
  EXPECT_FALSE(process.test(op));
  Op& other = submit_barrier(world.ranks[1]);
  while (!process.test(op) || !process.test(other)) {
  }
  EXPECT_EQ(clock_.now(), start);
  world.ranks[0].release(op);
  world.ranks[1].release(other);
}

TEST_F(AloneTest, AWaitEndsInTimeWhileOtherTrafficMoves) {
  Op& op = begin();
  world_->parts[1].fabric.restless = true;
  clock_.step = microseconds(10);
  const Instant start = clock_.now();
  EXPECT_FALSE(process_.wait(op, milliseconds(1)));
  EXPECT_LE(clock_.now() - start, milliseconds(2));
  world_->parts[1].fabric.restless = false;
  clock_.step = Duration{0};
  finish(op);
}

TEST_F(AloneTest, WaitingIsSpinningThenYieldingThenNapsThatGrow) {
  Op& op = begin();
  EXPECT_FALSE(process_.wait(op, milliseconds(20)));
  const std::vector<Duration>& naps = callers_.waits;
  ASSERT_GE(naps.size(), 8u);
  EXPECT_EQ(naps[0], microseconds(50));
  EXPECT_EQ(naps[1], microseconds(100));
  EXPECT_EQ(naps[4], microseconds(800));
  EXPECT_EQ(naps[5], milliseconds(1));
  EXPECT_EQ(naps.back(), milliseconds(1));
  EXPECT_TRUE(progress_.waits.empty());
  finish(op);
}

TEST_F(AloneTest, TestDrivesOneTurn) {
  Op& op = begin();
  const std::uint64_t polls = world_->parts[0].fabric.polls;
  EXPECT_FALSE(process_.test(op));
  EXPECT_EQ(world_->parts[0].fabric.polls, polls + 1);
  Op& other = submit_barrier(world_->ranks[1]);
  int tests = 0;
  while (!process_.test(op)) ASSERT_LT(++tests, 10);
  while (!process_.test(other)) ASSERT_LT(++tests, 20);
  EXPECT_TRUE(callers_.waits.empty());
  op.communicator().release(op);
  other.communicator().release(other);
}

TEST_F(AloneTest, SubmissionAloneStartsNothing) {
  Op& op = begin();
  EXPECT_TRUE(world_->parts[0].fabric.entries.empty());
  process_.kick();
  EXPECT_EQ(world_->parts[0].fabric.entries.size(), 1u);
  finish(op);
}

TEST_F(AloneTest, DetachEndsWhatItsDeadlineEnds) {
  fake::World other(process_, clock_, 2, {.op_timeout = milliseconds(30)});
  Op& op = submit_barrier(other.ranks[0]);
  process_.detach(other.ranks[0]);
  ASSERT_TRUE(op.done());
  EXPECT_EQ(op.error()->code(), Code::timeout);
  op.communicator().release(op);
  process_.attach(other.ranks[0]);
}

/// Counts what the progress thread does, and ends it after so many waits.
class Watched : public fake::Bell {
 public:
  Watched(fake::Clock& clock, Process& process) : fake::Bell(clock), process_(&process) {}
  void wait(std::uint32_t ticket, Duration most) override {
    fake::Bell::wait(ticket, most);
    if (waits.size() >= most_waits) process_->stop();
  }
  std::uint32_t ticket() override {
    if (++tickets == submit_at) {
      op = &submit_barrier(*rank);
      process_->kick();
    }
    return fake::Bell::ticket();
  }
  std::size_t most_waits = 1000;
  std::size_t tickets = 0, submit_at = 0;
  Communicator* rank = nullptr;
  Op* op = nullptr;

 private:
  Process* const process_;
};

class ProgressTest : public ::testing::Test {
 protected:
  fake::Clock clock_;
  fake::Bell callers_{clock_};
  struct Both {  // each needs the other's address
    Both(fake::Clock& clock, fake::Bell& callers)
        : progress(clock, process), process(clock, callers, progress) {}
    Watched progress;
    Process process;
  } both_{clock_, callers_};
  fake::World world_{both_.process, clock_, 2};
};

TEST_F(ProgressTest, LooksOftenThenRestsUntilRung) {
  both_.progress.most_waits = 502;
  both_.process.serve();
  const std::vector<Duration>& waits = both_.progress.waits;
  ASSERT_EQ(waits.size(), 502u);
  EXPECT_EQ(waits[0], microseconds(200));
  EXPECT_EQ(waits[499], microseconds(200));
  EXPECT_EQ(waits[500], seconds(1));
  EXPECT_EQ(waits[501], seconds(1));
}

// Nobody calls while ops are on streams.
TEST_F(ProgressTest, NoticesBetweenShorterRestsWhatFailsOnStreams) {
  fake::StreamDevice device;
  both_.process.watch(world_.ranks[0], device);
  device.broken.emplace(Error(Code::timeout, "rank 1 awaited").about_peer(Rank{1}));
  both_.progress.most_waits = 502;
  both_.process.serve();
  ASSERT_EQ(both_.progress.waits.size(), 502u);
  EXPECT_EQ(both_.progress.waits[500], milliseconds(100));
  ASSERT_TRUE(world_.ranks[0].failure());
  EXPECT_EQ(world_.ranks[0].failure()->text(), "peer 1: timeout: rank 1 awaited");
}

TEST_F(ProgressTest, DoesNotRestBesideWorkThatCameAtTheLastMoment) {
  both_.progress.rank = &world_.ranks[0];
  both_.progress.submit_at = 501;  // it has found nothing for so long and is about to rest
  both_.progress.most_waits = 600;
  both_.process.serve();
  ASSERT_NE(both_.progress.op, nullptr);
  EXPECT_FALSE(both_.progress.op->done());
  for (const Duration wait : both_.progress.waits) EXPECT_LE(wait, milliseconds(1));
  Op& op = *both_.progress.op;
  Op& other = submit_barrier(world_.ranks[1]);
  EXPECT_TRUE(both_.process.wait(op, seconds(1)));
  EXPECT_TRUE(both_.process.wait(other, seconds(1)));
  op.communicator().release(op);
  other.communicator().release(other);
}

// ---- threads -----------------------------------------------------------------------------------

constexpr Duration kPatience = seconds(20);

/// Notes which thread polled last.
class Driver final : public fake::Fabric::Watcher {
 public:
  void polled() override { last_ = std::this_thread::get_id(); }
  std::thread::id last() const { return last_; }

 private:
  std::atomic<std::thread::id> last_;
};

class ThreadsTest : public ::testing::Test {
 protected:
  ThreadsTest() {
    for (fake::World* world : {&a_, &b_})
      for (fake::Parts& parts : world->parts) parts.fabric.on_poll = &driver_;
  }
  template <class Condition>
  void await(Condition condition) {
    const Instant until = clock_.now() + kPatience;
    while (!condition()) {
      ASSERT_LT(clock_.now(), until);
      std::this_thread::yield();
    }
  }
  void await_driver(const std::thread& thread) {
    await([&] { return driver_.last() == thread.get_id(); });
  }
  /// All of a world's ranks come to a barrier, and nothing arrives.
  std::vector<Op*> begin_held(fake::World& world) {
    std::vector<Op*> ops;
    for (std::atomic<bool>& held : world.board.held) held = true;
    for (Communicator& rank : world.ranks) ops.push_back(&submit_barrier(rank));
    return ops;
  }
  void let_go(fake::World& world) {
    for (std::atomic<bool>& held : world.board.held) held = false;
  }
  void finish(const std::vector<Op*>& ops) {
    for (Op* op : ops) {
      EXPECT_TRUE(process_.wait(*op, kPatience));
      op->communicator().release(*op);
    }
  }

  host::Clock clock_;
  host::Doorbell callers_, progress_;
  Process process_{clock_, callers_, progress_};
  Driver driver_;
  fake::World a_{process_, clock_, 2}, b_{process_, clock_, 2};
};

TEST_F(ThreadsTest, TheNextWaiterTakesOverWhenTheDriverLeaves) {
  const std::vector<Op*> first = begin_held(a_), second = begin_held(b_);
  std::thread one([&] { EXPECT_TRUE(process_.wait(*first[0], kPatience)); });
  await_driver(one);
  std::atomic<bool> done{false};
  std::thread two([&] {
    EXPECT_TRUE(process_.wait(*second[0], kPatience));
    done = true;
  });
  let_go(a_);
  one.join();
  await_driver(two);
  EXPECT_FALSE(done);
  let_go(b_);
  two.join();
  finish(first);
  finish(second);
}

TEST_F(ThreadsTest, APassiveWaiterIsWokenByItsOpsEnd) {
  const std::vector<Op*> first = begin_held(a_), second = begin_held(b_);
  std::thread one([&] { EXPECT_TRUE(process_.wait(*first[0], kPatience)); });
  await_driver(one);
  std::thread two([&] { EXPECT_TRUE(process_.wait(*second[0], kPatience)); });
  let_go(b_);
  two.join();
  EXPECT_EQ(driver_.last(), one.get_id());
  EXPECT_FALSE(first[0]->done());
  let_go(a_);
  one.join();
  finish(first);
  finish(second);
}

TEST_F(ThreadsTest, APassiveWaitHasADeadlineToo) {
  const std::vector<Op*> first = begin_held(a_), second = begin_held(b_);
  std::thread one([&] { EXPECT_TRUE(process_.wait(*first[0], kPatience)); });
  await_driver(one);
  const Instant start = clock_.now();
  EXPECT_FALSE(process_.wait(*second[0], milliseconds(25)));
  EXPECT_GE(clock_.now() - start, milliseconds(25));
  EXPECT_EQ(driver_.last(), one.get_id());
  let_go(a_);
  let_go(b_);
  one.join();
  finish(first);
  finish(second);
}

TEST_F(ThreadsTest, ACommunicatorComesAndGoesWhileAnotherThreadDrives) {
  const std::vector<Op*> ops = begin_held(a_);
  std::thread driver([&] { EXPECT_TRUE(process_.wait(*ops[0], kPatience)); });
  await_driver(driver);
  for (int i = 0; i < 20; ++i) {
    fake::World other(process_, clock_, 2);
    Op& mine = submit_barrier(other.ranks[0]);
    Op& theirs = submit_barrier(other.ranks[1]);
    finish({&mine, &theirs});
  }
  EXPECT_FALSE(ops[0]->done());
  let_go(a_);
  driver.join();
  finish(ops);
}

TEST_F(ThreadsTest, ASubmissionReachesTheDriver) {
  const std::vector<Op*> held = begin_held(a_);
  std::thread driver([&] { EXPECT_TRUE(process_.wait(*held[0], kPatience)); });
  await_driver(driver);
  Op& mine = submit_barrier(b_.ranks[0]);
  Op& theirs = submit_barrier(b_.ranks[1]);
  process_.kick();
  await([&] { return mine.done() && theirs.done(); });
  let_go(a_);
  driver.join();
  finish(held);
  finish({&mine, &theirs});
}

TEST_F(ThreadsTest, TheProgressThreadDrivesWhatNobodyWaitsFor) {
  std::thread progress([&] { process_.serve(); });
  for (int i = 0; i < 10; ++i) {
    Op& mine = submit_barrier(a_.ranks[0]);
    Op& theirs = submit_barrier(a_.ranks[1]);
    process_.kick();
    await([&] { return mine.done() && theirs.done(); });
    finish({&mine, &theirs});
  }
  const std::vector<Op*> held = begin_held(b_);
  process_.kick();
  await_driver(progress);
  let_go(b_);
  await([&] { return held[0]->done() && held[1]->done(); });
  process_.stop();
  progress.join();
  finish(held);
}

TEST_F(ThreadsTest, ACallerTakesOverFromTheProgressThread) {
  std::thread progress([&] { process_.serve(); });
  const std::vector<Op*> held = begin_held(a_);
  process_.kick();
  await_driver(progress);
  std::thread caller([&] { EXPECT_TRUE(process_.wait(*held[0], kPatience)); });
  await_driver(caller);
  let_go(a_);
  caller.join();
  process_.stop();
  progress.join();
  finish(held);
}

TEST_F(ThreadsTest, ManyThreadsShareOneProcess) {
  std::thread progress([&] { process_.serve(); });
  std::vector<std::thread> threads;
  for (fake::World* world : {&a_, &b_})
    for (std::uint32_t r = 0; r < 2; ++r)
      threads.emplace_back([this, &rank = world->ranks[r], r] {
        for (int i = 0; i < 300; ++i) {
          Op& op = submit_barrier(rank);
          if (i % 3 == 0) process_.kick();
          if (i % 5 == 0)
            while (!process_.test(op)) std::this_thread::yield();
          while (!process_.wait(op, i % 2 == 0 ? kPatience : microseconds(10))) {
          }
          rank.release(op);
        }
        EXPECT_EQ(rank.pending(), 0u) << r;
      });
  for (std::thread& thread : threads) thread.join();
  process_.stop();
  progress.join();
}

}  // namespace
}  // namespace hocket::engine
