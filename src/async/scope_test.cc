// SPDX-License-Identifier: Apache-2.0
// Built twice, as task_test.cc is.
#include "async/scope.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "async/event.h"

namespace hocket {
namespace {

class Noting : public Scope::Owner {
 public:
  std::string log;

 private:
  void child_failed(Error error) override { log += "failed(" + error.message() + ") "; }
  void children_ended() override { log += "ended "; }
};

Task<void> child(Event& go, std::string name, std::string& log, bool good) {
  const Until until{"go"};
  CO_TRY_VOID(go.wait(until));
  log += name + " ";
  if (!good) co_return Error(Code::system, name);
  co_return kOk;
}

TEST(Scope, JoinsItsChildren) {
  Loop loop;
  Event first(loop), second(loop);
  Noting owner;
  Scope scope(owner);
  scope.spawn(child(first, "a", owner.log, true));
  scope.spawn(child(second, "b", owner.log, true));
  EXPECT_EQ(scope.running(), 2u);
  second.set();
  loop.turn(Instant{0});
  EXPECT_EQ(owner.log, "b ");
  EXPECT_EQ(scope.running(), 1u);
  first.set();
  loop.turn(Instant{0});
  EXPECT_EQ(owner.log, "b a ended ");
  EXPECT_EQ(scope.running(), 0u);
}

TEST(Scope, TellsTheFirstErrorOnly) {
  Loop loop;
  Event go(loop);
  Noting owner;
  Scope scope(owner);
  scope.spawn(child(go, "a", owner.log, true));
  scope.spawn(child(go, "b", owner.log, false));
  scope.spawn(child(go, "c", owner.log, false));
  go.set();
  loop.turn(Instant{0});
  EXPECT_EQ(owner.log, "a b failed(b) c ended ");
}

TEST(Scope, HoldingKeepsItFromEnding) {
  Loop loop;
  Event go(loop);
  go.set();  // children end inside spawn
  Noting owner;
  Scope scope(owner);
  scope.spawn(child(go, "a", owner.log, true));
  EXPECT_EQ(owner.log, "a ended ");
  owner.log.clear();
  scope.hold();
  scope.hold();
  scope.spawn(child(go, "b", owner.log, true));
  scope.spawn(child(go, "c", owner.log, true));
  scope.release();
  EXPECT_EQ(owner.log, "b c ");
  scope.release();
  EXPECT_EQ(owner.log, "b c ended ");
}

/// The usual owner: cancels the siblings when one fails, and goes with its scope at the end.
class Op final : private Scope::Owner {
 public:
  explicit Op(std::string& log) : log_(log) {}
  ~Op() { log_ += "gone "; }
  static void start(std::unique_ptr<Op> op, Loop& loop, Event& go, bool good) {
    Op& self = *op;
    self.self_ = std::move(op);
    self.scope_.hold();
    self.scope_.spawn(self.sibling(loop));
    self.scope_.spawn(child(go, "child", self.log_, good));
    self.scope_.release();
  }

 private:
  Task<void> sibling(Loop& loop) {
    Event never(loop);
    const Until until{"the other", Instant{5}, cancel_};
    Result<void> result = co_await never.wait(until);
    log_ += result.error().text() + " ";
    co_return result;
  }
  void child_failed(Error error) override {
    log_ += "failed(" + error.message() + ") ";
    cancel_.cancel();
  }
  void children_ended() override { self_.reset(); }

  std::string& log_;
  CancelSource cancel_;
  Scope scope_{*this};
  std::unique_ptr<Op> self_;
};

TEST(Scope, MayEndInsideChildrenEnded) {
  std::string log;
  Loop loop;
  Event go(loop);
  Op::start(std::make_unique<Op>(log), loop, go, true);
  go.set();
  loop.turn(Instant{0});
  EXPECT_EQ(log, "child ");
  loop.turn(Instant{5});
  EXPECT_EQ(log, "child timeout: waited for the other failed(waited for the other) gone ");
}

TEST(Scope, AFailureCancelsTheSiblings) {
  std::string log;
  Loop loop;
  Event go(loop);
  go.set();  // the child fails inside spawn
  Op::start(std::make_unique<Op>(log), loop, go, false);
  EXPECT_EQ(log, "child failed(child) ");
  loop.turn(Instant{0});
  EXPECT_EQ(log, "child failed(child) cancelled: gave up waiting for the other gone ");
}

/// Spawns the next generation from inside children_ended.
class Generations final : private Scope::Owner {
 public:
  explicit Generations(Event& go) : go_(go) {}
  void start() { scope_.spawn(child(go_, "x", log, true)); }
  std::string log;
  int left = 3;

 private:
  void child_failed(Error error) override { log += error.text(); }
  void children_ended() override {
    log += "ended ";
    if (--left > 0) start();
  }
  Event& go_;
  Scope scope_{*this};
};

TEST(Scope, IsUsedAgain) {
  Loop loop;
  Event go(loop);
  Generations generations(go);
  generations.start();
  go.set();
  loop.turn(Instant{0});
  EXPECT_EQ(generations.log, "x ended x ended x ended ");
}

Task<void> hold_local(Event& go, int& live) {
  struct Local {
    int& count;
    explicit Local(int& c) : count(c) { ++count; }
    Local(const Local&) = delete;
    ~Local() { --count; }
  };
  const Local local(live);
  const Until until{"go"};
  CO_TRY_VOID(go.wait(until));
  co_return kOk;
}

TEST(Scope, OwnsItsChildrensFrames) {
  Loop loop;
  Event go(loop);
  Noting owner;
  Scope scope(owner);
  int live = 0;
  for (int i = 0; i < 100; ++i) scope.spawn(hold_local(go, live));
  EXPECT_EQ(live, 100);
  go.set();
  loop.turn(Instant{0});
  EXPECT_EQ(live, 0);
  EXPECT_EQ(owner.log, "ended ");
}

TEST(ScopeDeathTest, EndingBeforeTheChildrenAndReleasingWhatIsNotHeld) {
  EXPECT_DEATH(
      {
        Noting owner;
        Scope scope(owner);
        scope.hold();
      },
      "a scope ended before its children");
  EXPECT_DEATH(
      {
        Noting owner;
        Scope scope(owner);
        scope.release();
      },
      "release without hold");
}

}  // namespace
}  // namespace hocket
