// SPDX-License-Identifier: Apache-2.0
// The link model, ranks' memory and faults, seen through world/'s interfaces by small scripts.
#include "sim/world.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <string>

#include "async/scope.h"
#include "async/task.h"

namespace hocket::sim {
namespace {

using world::Port;
using world::Waiter;

constexpr Picoseconds kAlpha = 1'000'000, kRailAlpha = 5'000'000, kMessage = 300'000;

Options options() {
  Options options;
  options.costs.link[0] = {kAlpha, 10.0};       // 10 ps a byte
  options.costs.link[1] = {kRailAlpha, 100.0};  // 100 ps a byte
  options.costs.fold_ps_per_byte = 1.0;
  options.costs.message = kMessage;
  options.costs.credits = 2;
  return options;
}

/// Ranks whose engine is a script: coroutines that speak to the world's interfaces.
class Scripts : public ::testing::Test, protected Driver, private Scope::Owner {
 protected:
  void make(std::uint32_t nodes, std::uint32_t ranks, const Options& made = options()) {
    world_.emplace(std::make_shared<const Topology>(nodes, ranks), made);
    for (std::uint32_t i = 0; i < nodes * ranks; ++i) worlds_.push_back(world_->world(Rank{i}));
  }
  Waiter waiter(std::uint32_t me, std::uint32_t peer, Port port, std::uint16_t channel = 0) {
    Waiter made;
    made.owner = Rank{me};
    made.peer = Rank{peer};
    made.channel = ChannelId{channel};
    made.port = port;
    return made;
  }
  struct Ready {
    world::Fabric& fabric;
    Waiter& waiter;
    bool await_ready() { return fabric.ready(waiter); }
    void await_suspend(std::coroutine_handle<> handle) {
      waiter.handle = handle;
      fabric.park(waiter);
    }
    void await_resume() {}
  };
  world::Fabric& fabric(std::uint32_t rank) { return worlds_[rank].fabric; }
  Picoseconds now(std::uint32_t rank) { return static_cast<SimRank&>(fabric(rank)).cpu(); }

  /// Rank 0 writes `count` messages of `bytes` to rank 1, noting when each was handed over.
  Task<void> write(Port port, std::uint64_t bytes, int count = 1) {
    Waiter at = waiter(0, 1, port);
    Ready ready{fabric(0), at};
    for (int i = 0; i < count; ++i) {
      co_await ready;
      Result<void> written = fabric(0).write(at, {{source_, bytes}, 0});
      if (!written) co_return std::move(written).error();
      written_.push_back(now(0));
    }
    co_return kOk;
  }
  /// Rank 1 takes them, noting when each was taken.
  Task<void> take(std::uint64_t bytes, int count = 1) {
    Waiter at = waiter(1, 0, Port::arrival);
    Ready ready{fabric(1), at};
    for (int i = 0; i < count; ++i) {
      co_await ready;
      Result<void> landed = fabric(1).land(at, {target_, bytes});
      if (!landed) co_return std::move(landed).error();
      taken_.push_back(now(1));
      fabric(1).pop(at);
    }
    co_return kOk;
  }
  void enter(std::uint32_t rank, std::uint64_t op = 1) {
    ASSERT_TRUE(fabric(rank).enter({OpSeq{op}, {target_, 0}}));
  }
  void start_all() {
    for (std::uint32_t i = 0; i < worlds_.size(); ++i) world_->start_at(Rank{i}, 0);
  }

  void start(Rank rank) override { on_start(rank.value); }
  void look(Rank rank) override { looks_.push_back({rank, now(rank.value)}); }
  virtual void on_start(std::uint32_t) {}
  void child_failed(Error error) override { errors_.push_back(std::move(error)); }
  void children_ended() override {}

  std::optional<SimWorld> world_;
  std::vector<world::World> worlds_;
  Scope scope_{*this};
  std::vector<Picoseconds> written_, taken_;
  std::vector<std::pair<Rank, Picoseconds>> looks_;
  std::vector<Error> errors_;
  const std::byte* source_ = nullptr;
  std::byte* target_ = nullptr;
};

class Pair : public Scripts {
 protected:
  Pair() { make(1, 2); }
  void on_start(std::uint32_t rank) override {
    enter(rank);
    if (rank == 0) scope_.spawn(write(port_, 1'000, count_));
    if (rank == 1) scope_.spawn(take(1'000, count_));
  }
  Port port_ = Port::staged;
  int count_ = 1;
};

TEST_F(Pair, AStagedMessageCostsWhatTheModelSays) {
  start_all();
  const Report report = world_->run(*this);
  EXPECT_EQ(written_, (std::vector{kMessage}));
  const Picoseconds arrival = kMessage + kAlpha + 10'000;
  EXPECT_EQ(taken_, (std::vector{arrival + kMessage + 1'000}));  // stored: a picosecond a byte
  EXPECT_EQ(report.finish, taken_[0]);
  EXPECT_EQ(report.messages, 1u);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(Pair, ALandingWaitsForTheEntryAndIsNotStored) {
  port_ = Port::landing;
  world_->start_at(Rank{0}, 0);
  world_->start_at(Rank{1}, 7'000'000);
  world_->run(*this);
  EXPECT_EQ(written_, (std::vector<Picoseconds>{7'000'000 + kAlpha + kMessage}));
  EXPECT_EQ(taken_, (std::vector<Picoseconds>{written_[0] + kAlpha + 10'000 + kMessage}));
}

TEST_F(Pair, CreditsBoundWhatIsUnderWay) {
  count_ = 3;
  start_all();
  world_->run(*this);
  ASSERT_EQ(written_.size(), 3u);
  EXPECT_EQ(written_[1], 2 * kMessage);  // one after another, on one CPU
  const Picoseconds first_taken = kMessage + kAlpha + 10'000 + kMessage + 1'000;
  EXPECT_EQ(taken_[0], first_taken);
  EXPECT_EQ(written_[2], first_taken + kAlpha + kMessage);
}

TEST_F(Pair, MessagesShareAPort) {
  auto made = options();
  made.costs.message = 0;
  made.costs.credits = 8;
  world_.reset();
  worlds_.clear();
  make(1, 2, made);
  count_ = 3;
  start_all();
  world_->run(*this);
  const Picoseconds first = kAlpha + 10'000;
  EXPECT_EQ(taken_, (std::vector{first + 1'000, first + 11'000, first + 21'000}));
}

TEST_F(Pair, JitterKeepsALinksOrder) {
  auto made = options();
  made.jitter = 50'000'000;
  made.costs.credits = 100;
  world_.reset();
  worlds_.clear();
  make(1, 2, made);
  count_ = 50;
  start_all();
  const Report report = world_->run(*this);
  EXPECT_EQ(taken_.size(), 50u);
  EXPECT_TRUE(std::is_sorted(taken_.begin(), taken_.end()));
  EXPECT_GT(report.finish, 10'000'000u);
  EXPECT_TRUE(errors_.empty());
}

class Lengths : public Scripts {
 protected:
  void on_start(std::uint32_t rank) override {
    if (rank == 0) scope_.spawn(write(Port::staged, 16));
    if (rank == 1) scope_.spawn(take(24));
  }
};

TEST_F(Lengths, AMessageOfAnotherLengthIsAMismatch) {
  make(1, 2);
  start_all();
  world_->run(*this);
  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_EQ(errors_[0].code(), Code::mismatch);
  EXPECT_EQ(errors_[0].text(),
            "peer 0: mismatch: a message of 16 bytes arrived where 24 were expected");
}

/// Bytes are those of the time of writing, wherever they travel, once the source has left.
class Snapshot : public Scripts {
 protected:
  Task<void> overwrite_when_drained() {
    CO_TRY_VOID(write(port_, 8));
    Waiter at = waiter(0, 1, Port::drained);
    at.peer = kNobody;
    Ready ready{fabric(0), at};
    co_await ready;
    EXPECT_EQ(now(0), kMessage + 80);
    std::memset(from_.data(), 0, from_.size());
    co_return kOk;
  }
  void on_start(std::uint32_t rank) override {
    EXPECT_TRUE(fabric(rank).enter({OpSeq{1}, {to_.data(), 8}}));
    scope_.spawn(rank == 0 ? overwrite_when_drained() : take(8));
  }
  Port port_ = Port::staged;
  std::array<std::byte, 8> from_{}, to_{};
};

TEST_F(Snapshot, OfAStagedMessage) {
  make(1, 2);
  from_.fill(std::byte{7});
  source_ = from_.data();
  target_ = to_.data();
  start_all();
  world_->run(*this);
  EXPECT_EQ(to_,
            (std::array<std::byte, 8>{std::byte{7}, std::byte{7}, std::byte{7}, std::byte{7},
                                      std::byte{7}, std::byte{7}, std::byte{7}, std::byte{7}}));
  EXPECT_EQ(from_[0], std::byte{0});
}

class Deaths : public Scripts {
 protected:
  /// The third message has no credit, until the peer is dead.
  Task<void> write_three() {
    Ready ready{fabric(0), parked_};
    for (int i = 0; i < 3; ++i) {
      co_await ready;
      Result<void> written = fabric(0).write(parked_, {});
      if (!written) co_return std::move(written).error();
    }
    co_return kOk;
  }
  void on_start(std::uint32_t rank) override {
    enter(rank);
    if (rank == 0) scope_.spawn(write_three());
  }
  void look(Rank rank) override {
    Scripts::look(rank);
    if (rank != Rank{0} || !parked_.parked) return;
    fabric(0).unpark(parked_);
    parked_.handle.resume();
  }
  Waiter parked_ = waiter(0, 1, Port::staged);
};

TEST_F(Deaths, AreKnownAfterTheDetectionDelay) {
  auto made = options();
  made.detection = 500'000'000;
  make(2, 2, made);
  start_all();
  world_->crash_at(Rank{1}, 1'000);
  const Report report = world_->run(*this);
  EXPECT_EQ(report.messages, 2u);
  ASSERT_EQ(looks_.size(), 5u);  // the dead rank at once, then all four, a latency later
  EXPECT_EQ(looks_[0].first, Rank{1});
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(looks_[i].second, 500'001'000 + kRailAlpha);
  const std::optional<world::Failure> failure = worlds_[2].membership.failure();
  EXPECT_EQ(failure, (world::Failure{Code::peer_lost, Rank{1}, Rank{2}, OpSeq{1}}));
  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_EQ(errors_[0].text(), "peer 1: peer lost: rank 1 has crashed");

  Waiter at = waiter(3, 1, Port::arrival);  // a link to the dead is ready, and says so
  EXPECT_TRUE(fabric(3).ready(at));
  const Result<ConstBytes> arrived = fabric(3).front(at, 8);
  ASSERT_FALSE(arrived);
  EXPECT_EQ(arrived.error().code(), Code::peer_lost);
}

TEST_F(Deaths, TheRankItselfIsItsOwnCulprit) {
  make(1, 2);
  world_->crash_at(Rank{1}, 0);
  world_->run(*this);
  ASSERT_TRUE(worlds_[1].membership.failure());
  EXPECT_EQ(worlds_[1].membership.failure()->culprit, Rank{1});
  EXPECT_FALSE(fabric(1).enter({OpSeq{1}, {}}));
}

class Membership : public Scripts {
 protected:
  void on_start(std::uint32_t rank) override {
    if (rank % 2 == 0) enter(rank, 1);
    if (rank == 4) enter(rank, 2);
  }
};

TEST_F(Membership, CountsWhoIsMissingAndNamesTheFirst) {
  make(1, 40);
  start_all();
  world_->run(*this);
  world::Missing missing = worlds_[0].membership.missing(OpSeq{1});
  EXPECT_EQ(missing.count, 20u);
  for (std::uint32_t i = 0; i < world::Missing::kNamed; ++i)
    EXPECT_EQ(missing.ranks[i], Rank{2 * i + 1});
  missing = worlds_[0].membership.missing(OpSeq{2});
  EXPECT_EQ(missing.count, 39u);
  enter(1, 2);
  EXPECT_EQ(worlds_[0].membership.missing(OpSeq{2}).count, 38u);
}

TEST_F(Membership, TheFirstFailureIsEverybodys) {
  make(2, 1);
  const world::Failure first{Code::timeout, Rank{1}, Rank{0}, OpSeq{3}};
  EXPECT_EQ(worlds_[0].membership.fail(first), first);
  EXPECT_EQ(worlds_[0].membership.failure(), first);
  EXPECT_FALSE(worlds_[1].membership.failure());  // it has not heard yet
  EXPECT_EQ(worlds_[1].membership.fail({Code::aborted, Rank{1}, Rank{1}, {}}), first);
  world_->run(*this);
  EXPECT_EQ(looks_.size(), 2u);
  EXPECT_EQ(worlds_[1].membership.failure(), first);
}

TEST_F(Pair, AnUnparkedWaiterIsForgotten) {
  Waiter arrival = waiter(1, 0, Port::arrival);
  arrival.handle = std::noop_coroutine();
  fabric(1).park(arrival);
  EXPECT_TRUE(arrival.parked);
  fabric(1).unpark(arrival);
  EXPECT_FALSE(arrival.parked);
  Waiter landing = waiter(0, 1, Port::landing);
  landing.handle = std::noop_coroutine();
  enter(0);
  fabric(0).park(landing);
  fabric(0).unpark(landing);
  enter(1);                 // would wake it
  fabric(0).park(landing);  // scheduled: the entry is on its way
  fabric(0).unpark(landing);
  EXPECT_EQ(world_->run(*this).events, 0u);
}

TEST_F(Scripts, SeedsDecideWhatIsRandom) {
  std::array<std::byte, 13> a{}, b{}, c{};
  auto made = options();
  for (auto* bytes : {&a, &b, &c}) {
    made.seed = bytes == &c ? 2 : 1;
    SimWorld world(std::make_shared<const Topology>(1, 1), made);
    ASSERT_TRUE(world.random().fill({bytes->data(), bytes->size()}));
  }
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

class Alarm final : public Timer {
 public:
  explicit Alarm(world::Clock& clock) : clock_(clock) {}
  std::vector<Instant> rung;

 private:
  void expired() override { rung.push_back(clock_.now()); }
  world::Clock& clock_;
};

TEST_F(Pair, TimersRunInVirtualTime) {
  Alarm early(worlds_[0].clock), late(worlds_[0].clock);
  world_->loop().add(early, Instant{1'200});
  world_->loop().add(late, Instant{3'600'000'000'000});
  start_all();
  world_->run(*this);
  EXPECT_EQ(early.rung, (std::vector{Instant{1'200}}));
  EXPECT_EQ(late.rung, (std::vector{Instant{3'600'000'000'000}}));
  EXPECT_EQ(taken_.size(), 1u);
}

}  // namespace
}  // namespace hocket::sim
