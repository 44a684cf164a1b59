// SPDX-License-Identifier: Apache-2.0
// What ranks know of one another: who has entered, the failure they agree on, the topology.
#include <array>
#include <string>

#include "transport/conformance/messages.h"
#include "transport/conformance/suite.h"

namespace hocket::transport::conformance {
namespace {

using world::Port;

std::string text_of(const world::Failure& failure) {
  return std::string(name_of(failure.code)) + " by " + std::to_string(failure.culprit.value) +
         " seen by " + std::to_string(failure.reporter.value) + " in op " +
         std::to_string(failure.op.value);
}

// Rank 0 has the others enter one by one and looks who is missing.
class Entering final : public Script {
 public:
  explicit Entering(std::uint32_t ranks) : ranks_(ranks) {}
  Task<void> play(Player& self, std::uint32_t) override {
    return self.rank() == Rank{0} ? conducts(self) : follows(self);
  }

 private:
  // Ranks from `first` on have not entered `op`.
  void expect_missing(Player& self, std::uint64_t op, std::uint32_t first) const {
    const world::Missing missing = self.membership().missing(OpSeq{op});
    EXPECT_EQ(missing.count, ranks_ - first);
    for (std::uint32_t i = 0; i < std::min(missing.count, world::Missing::kNamed); ++i)
      EXPECT_EQ(missing.ranks[i], Rank{first + i});
  }
  Task<void> conducts(Player& self) {
    EXPECT_EQ(self.membership().missing(OpSeq{0}).count, 0u);
    expect_missing(self, 1, 0);
    for (std::uint64_t op = 1; op <= 3; ++op) {
      Result<void> entered = self.fabric().enter({OpSeq{op}, {}});
      if (!entered) co_return std::move(entered).error();
      expect_missing(self, op, 1);
      for (std::uint32_t peer = 1; peer < ranks_; ++peer) {
        world::Waiter out = self.waiter(Port::staged, peer), in = self.waiter(Port::arrival, peer);
        CO_TRY_VOID(send(self, out, ConstBytes()));
        CO_TRY_VOID(take(self, in, 0, 0));
        expect_missing(self, op, peer + 1);
      }
      expect_missing(self, op + 1, 0);
    }
    co_return kOk;
  }
  Task<void> follows(Player& self) {
    world::Waiter out = self.waiter(Port::staged, 0), in = self.waiter(Port::arrival, 0);
    for (std::uint64_t op = 1; op <= 3; ++op) {
      CO_TRY_VOID(take(self, in, 0, 0));
      Result<void> entered = self.fabric().enter({OpSeq{op}, {}});
      if (!entered) co_return std::move(entered).error();
      CO_TRY_VOID(send(self, out, ConstBytes()));
    }
    co_return kOk;
  }
  const std::uint32_t ranks_;
};

TEST_P(Conformance, KnowsWhoHasEntered) {
  Entering two(2), many(traits().most_ranks);
  perform(two, 2);
  perform(many, traits().most_ranks);
}

// A message that lands needs no more than that its receiver has entered.
class LandingAfterEntry final : public Script {
 public:
  Task<void> play(Player& self, std::uint32_t) override {
    return self.rank() == Rank{0} ? sends(self) : takes(self);
  }

 private:
  Task<void> sends(Player& self) {
    Payload payload(self.traits().slice_bytes);
    payload.fill(5);
    Result<void> entered = self.fabric().enter({OpSeq{1}, {}});
    if (!entered) co_return std::move(entered).error();
    world::Waiter out = self.waiter(Port::landing, 1);
    CO_TRY_VOID(send(self, out, payload.source(self)));
    CO_TRY_VOID(drain(self));
    co_return kOk;
  }
  Task<void> takes(Player& self) {
    CO_TRY_VOID(idle(self, 50));
    Payload output(self.traits().slice_bytes);
    Result<void> entered = self.fabric().enter({OpSeq{1}, output.target(self)});
    if (!entered) co_return std::move(entered).error();
    world::Waiter in = self.waiter(Port::arrival, 0);
    CO_TRY_VOID(take_into(self, in, output, 5));
    co_return kOk;
  }
};

TEST_P(Conformance, LandsOnceThePeerHasEntered) {
  LandingAfterEntry script;
  perform(script, 2);
}

// All fail at about the same time; one failure counts, for everybody and for good.
class Failing final : public Script {
 public:
  explicit Failing(std::uint32_t reporters) : reporters_(reporters) {}
  Task<void> play(Player& self, std::uint32_t) override {
    const std::uint32_t me = self.rank().value;
    Result<void> entered = self.fabric().enter({OpSeq{me + 1}, {}});
    if (!entered) co_return std::move(entered).error();
    EXPECT_FALSE(self.membership().failure().has_value() && reporters_ == 0);
    world::Failure seen;
    if (me < reporters_) {
      seen = self.membership().fail({.code = Code::timeout,
                                     .culprit = Rank{(me + 1) % self.ranks()},
                                     .reporter = self.rank(),
                                     .op = OpSeq{me + 1}});
    }
    std::optional<world::Failure> failure = self.membership().failure();
    while (!failure) {
      co_await self.pause();
      failure = self.membership().failure();
    }
    if (me < reporters_) {
      EXPECT_EQ(*failure, seen) << "the failure has changed";
    }
    self.report(text_of(*failure));
    co_return kOk;
  }

 private:
  const std::uint32_t reporters_;
};

TEST_P(Conformance, AgreesOnTheFirstFailure) {
  for (const std::uint32_t reporters : {1u, traits().most_ranks}) {
    Failing script(reporters);
    const Outcome outcome = perform(script, traits().most_ranks);
    const std::string& agreed = outcome.parts[0].reported;
    EXPECT_EQ(agreed.find("timeout by "), 0u) << agreed;
    for (const Outcome::Part& part : outcome.parts) EXPECT_EQ(part.reported, agreed);
  }
}

// After a failure the sender's memory is its own again: what is taken late is right or an error.
class FailingWhileSending final : public Script {
 public:
  Task<void> play(Player& self, std::uint32_t) override {
    return self.rank() == Rank{0} ? sends(self) : takes(self);
  }

 private:
  static constexpr std::uint32_t kMessages = 4;
  Task<void> sends(Player& self) {
    {
      Payload payload(self.traits().slice_bytes);
      payload.fill(5);
      world::Waiter out = self.waiter(Port::staged, 1);
      const std::uint32_t messages = std::min(kMessages, self.traits().credits);
      for (std::uint32_t i = 0; i < messages; ++i) {
        CO_TRY_VOID(send(self, out, payload.source(self)));
      }
      self.membership().fail(
          {.code = Code::aborted, .culprit = self.rank(), .reporter = self.rank(), .op = OpSeq{0}});
      payload.fill(6);
    }
    CO_TRY_VOID(idle(self, 200));
    co_return kOk;
  }
  Task<void> takes(Player& self) {
    world::Waiter in = self.waiter(Port::arrival, 0);
    const std::uint32_t messages = std::min(kMessages, self.traits().credits);
    for (std::uint32_t i = 0; i < messages; ++i) {
      co_await self.ready(in);
      Result<ConstBytes> bytes = self.fabric().front(in, self.traits().slice_bytes);
      if (!bytes) co_return kOk;
      const bool is_right = is_filled(self, *bytes, self.traits().slice_bytes, 5);
      EXPECT_TRUE(is_right || self.membership().failure()) << "wrong bytes and no failure";
      self.fabric().pop(in);
    }
    co_return kOk;
  }
};

TEST_P(Conformance, ReadsNoSourceAfterAFailure) {
  for (int i = 0; i < 20; ++i) {
    FailingWhileSending script;
    perform(script, 2);
  }
}

class Seating final : public Script {
 public:
  Task<void> play(Player& self, std::uint32_t) override {
    self.report(self.endpoint().topology()->text());
    co_return kOk;
  }
};

TEST_P(Conformance, AgreesOnTheTopology) {
  Seating script;
  const std::array<std::pair<std::uint32_t, const char*>, 4> cases{
      {{0, "1 node x 5 ranks"},
       {2, "2 nodes x 2 ranks + 1 node x 1 rank"},
       {1, "5 nodes x 1 rank"},
       {8, "1 node x 5 ranks"}}};
  for (const auto& [ranks_per_node, text] : cases) {
    const Outcome outcome = GetParam()->perform(script, 5, ranks_per_node);
    for (const Outcome::Part& part : outcome.parts) {
      EXPECT_EQ(part.failure, "");
      EXPECT_EQ(part.reported, text);
    }
  }
}

}  // namespace
}  // namespace hocket::transport::conformance
