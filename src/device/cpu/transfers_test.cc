// SPDX-License-Identifier: Apache-2.0
// Sends and receives by their kernel's twin, in any interleaving and between swaps, whose staging
// they use.
#include "device/kernels/transfers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "device/cpu/interpreter.h"
#include "testing/cases.h"

namespace hocket::cpu {
namespace {

using kernels::Capacity;
using kernels::Report;
using Bytes = std::vector<std::byte>;

/// Memory of the user's that begins anywhere and has something around it that nobody may touch.
class Place {
 public:
  static constexpr std::size_t kAround = 64;
  Place(std::uint64_t bytes, std::uint32_t skew)
      : memory_(bytes + 2 * kAround, std::byte{0xee}), begin_(kAround - 16 + skew), bytes_(bytes) {}
  std::byte* data() { return memory_.data() + begin_; }
  void fill(Prng& random) {
    for (std::uint64_t i = 0; i < bytes_; ++i) data()[i] = static_cast<std::byte>(random.next());
  }
  /// Whether it holds those bytes, and what is around is as it was.
  bool holds(const std::byte* bytes) const {
    Bytes expected(memory_.size(), std::byte{0xee});
    if (bytes_ > 0) std::memcpy(expected.data() + begin_, bytes, bytes_);
    return expected == memory_;
  }
  std::uint64_t size() const { return bytes_; }

 private:
  Bytes memory_;
  std::size_t begin_;
  std::uint64_t bytes_;
};

struct Message {
  std::uint32_t from, to;
  Place source, target;
};

/// A group of all ranks, as each of them makes it.
class Group {
 public:
  void add(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Prng& random) {
    const auto skew = [&random] {
      return static_cast<std::uint32_t>(random.below(3) * 8 + random.below(2));
    };
    messages_.push_back({from, to, Place(bytes, skew()), Place(bytes, skew())});
    messages_.back().source.fill(random);
  }

  world::Transfers of(std::uint32_t rank, std::uint32_t world) {
    world::Transfers transfers;
    std::uint16_t count = 0;
    const auto add = [&](Place& place) {
      transfers.all[count++] = {place.data(), place.size(),
                                static_cast<std::uint32_t>(place.size())};
    };
    for (std::uint32_t hop = 0; hop < world; ++hop)
      for (const bool sends : {true, false}) {
        const std::uint32_t peer = (rank + hop) % world;
        if (hop == 0 && !sends) continue;
        const std::uint16_t first = count;
        for (Message& message : messages_) {
          const std::uint32_t from = sends ? rank : peer, to = sends ? peer : rank;
          if (message.from != from || message.to != to) continue;
          if (sends) add(message.source);
          if (!sends || hop == 0) add(message.target);
        }
        if (count == first) continue;
        transfers.directions[transfers.count++] = {static_cast<std::uint8_t>(peer), sends, first,
                                                   static_cast<std::uint16_t>(count - first)};
      }
    return transfers;
  }

  std::string wrong() {
    for (Message& m : messages_)
      if (!m.target.holds(m.source.data()))
        return std::to_string(m.target.size()) + " bytes from " + std::to_string(m.from) + " to " +
               std::to_string(m.to);
    return "";
  }

 private:
  std::deque<Message> messages_;
};

/// An all_gather of all ranks, staged in windows or by packets.
class Gather {
 public:
  Gather(std::uint32_t world, std::uint64_t bytes, Prng& random)
      : bytes_(bytes), whole_(world * bytes, 0) {
    whole_.fill(random);
    for (std::uint32_t rank = 0; rank < world; ++rank) outputs_.emplace_back(world * bytes, 0);
  }
  world::Action of(std::uint32_t rank, world::Lowering lowering, const Capacity& capacity) {
    world::Action action{.lowering = lowering, .blocks = 2, .threads = 16, .signature = 3};
    if (lowering == world::Lowering::staged)
      action.windows = static_cast<std::uint32_t>(1 + bytes_ / capacity.staged);
    action.swap = {.input = whole_.data() + rank * bytes_,
                   .output = outputs_[rank].data(),
                   .sent = {bytes_, 0},
                   .received = {bytes_, bytes_},
                   .type = DataType::uint8};
    return action;
  }
  bool is_right() {
    return std::all_of(outputs_.begin(), outputs_.end(),
                       [&](Place& output) { return output.holds(whole_.data()); });
  }

 private:
  const std::uint64_t bytes_;
  Place whole_;
  std::deque<Place> outputs_;
};

Capacity capacity_of(std::uint32_t world, Prng& random) {
  Capacity capacity{.world = world, .packets = 64};
  capacity.stripes = 1 + static_cast<std::uint32_t>(random.below(3));
  capacity.letters = 8 * capacity.stripes * (random.below(2) == 0 ? 1 : 40);
  capacity.staged = 128 * (2 * capacity.stripes * (1 + random.below(8)) + random.below(2));
  return capacity;
}

/// One that is short, of several chunks, or worth several stripes.
std::uint64_t draw_bytes(Prng& random) {
  const std::uint64_t most[] = {1, 40, 400, 3'000, 20'000};
  return random.below(most[random.below(5)] + 1);
}

class Program {
 public:
  Program(ThreadPool& pool, std::uint64_t seed)
      : random_(seed),
        world_(1 + static_cast<std::uint32_t>(random_.below(random_.below(4) == 0 ? 16 : 5))),
        capacity_(capacity_of(world_, random_)),
        interpreter_(pool, {.capacity = capacity_,
                            .seed = seed,
                            .lap = random_.below(2) == 0 ? ~0u - 2 : 0,
                            .chunk = random_.below(2) == 0 ? ~0u - 3 : 0}) {}

  void run() {
    for (int round = 0; round < 5; ++round) {
      if (world_ > 1 && random_.below(2) == 0) {
        launch_gather();
      } else {
        launch_group();
      }
    }
    ASSERT_EQ(interpreter_.run(), Interpreter::End::done) << interpreter_.waiting();
    for (Group& group : groups_) ASSERT_EQ(group.wrong(), "");
    for (Gather& gather : gathers_) ASSERT_TRUE(gather.is_right());
    for (std::uint32_t rank = 0; rank < world_; ++rank)
      ASSERT_EQ(interpreter_.report(rank).code, Report::none);
  }

 private:
  void launch_gather() {
    const bool is_staged = random_.below(2) == 0;
    Gather& gather = gathers_.emplace_back(
        world_, random_.below(is_staged ? 3 * capacity_.staged : 8 * capacity_.packets), random_);
    const auto lowering = is_staged ? world::Lowering::staged : world::Lowering::packet;
    for (std::uint32_t rank = 0; rank < world_; ++rank)
      interpreter_.launch(rank, gather.of(rank, lowering, capacity_));
  }
  void launch_group() {
    Group& group = groups_.emplace_back();
    for (std::uint64_t i = random_.below(3 * world_); i > 0; --i)
      group.add(static_cast<std::uint32_t>(random_.below(world_)),
                static_cast<std::uint32_t>(random_.below(world_)), draw_bytes(random_), random_);
    const auto threads = static_cast<std::uint32_t>(1 + random_.below(5));
    for (std::uint32_t rank = 0; rank < world_; ++rank) {
      const world::Transfers transfers = group.of(rank, world_);
      if (transfers.count > 0) interpreter_.launch(rank, transfers, threads);
    }
  }

  Prng random_;
  const std::uint32_t world_;
  const Capacity capacity_;
  Interpreter interpreter_;
  std::deque<Group> groups_;
  std::deque<Gather> gathers_;
};

TEST(Transfers, ArriveInAnyInterleavingAndBetweenSwaps) {
  ThreadPool pool;
  for (int seed = 0; seed < testing::cases(400); ++seed) {
    SCOPED_TRACE(seed);
    Program(pool, static_cast<std::uint64_t>(seed)).run();
    if (HasFatalFailure()) return;
  }
}

// Each sends first what the other one receives last: one stripe never waits for another.
TEST(Transfers, OfAGroupAllGoOn) {
  ThreadPool pool;
  Prng random(1);
  const Capacity capacity{.world = 2, .packets = 8, .staged = 512, .letters = 8};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Interpreter interpreter(pool, {.capacity = capacity, .seed = seed});
    Group group;
    for (const std::uint64_t bytes : {5'000u, 3u, 2'000u}) {
      group.add(0, 1, bytes, random);
      group.add(1, 0, bytes, random);
    }
    for (std::uint32_t rank = 0; rank < 2; ++rank) interpreter.launch(rank, group.of(rank, 2), 3);
    ASSERT_EQ(interpreter.run(), Interpreter::End::done) << interpreter.waiting();
    EXPECT_EQ(group.wrong(), "");
  }
}

/// What rank 1 makes of `received` bytes when rank 0 sends `sent`.
Report mismatch(std::uint64_t sent, std::uint64_t received) {
  ThreadPool pool;
  Prng random(1);
  const Capacity capacity{.world = 2, .packets = 8, .staged = 512, .letters = 16, .stripes = 2};
  Interpreter interpreter(pool, {.capacity = capacity});
  Group ours, theirs;
  ours.add(0, 1, sent, random);
  theirs.add(0, 1, received, random);
  interpreter.launch(0, ours.of(0, 2), 3);
  interpreter.launch(1, theirs.of(1, 2), 3);
  if (interpreter.run() == Interpreter::End::stuck) {
    interpreter.stop(0);  // the sender waits for room, or until all is taken
    EXPECT_EQ(interpreter.run(), Interpreter::End::done);
  }
  return interpreter.report(1);
}

TEST(Transfers, EndsThatDifferTellAMismatch) {
  for (const auto& [sent, received] : {std::pair{8u, 9u},
                                       {9u, 8u},
                                       {0u, 8u},
                                       {8u, 0u},
                                       {4'000u, 5'000u},
                                       {8u, 5'000u},
                                       {5'000u, 8u}}) {
    const Report report = mismatch(sent, received);
    EXPECT_EQ(report.code, Report::mismatch) << sent << " " << received;
    EXPECT_EQ(report.seen, sent);
    EXPECT_EQ(report.peer, 0u);
    EXPECT_EQ(report.lap, 0u);
  }
}

TEST(Transfers, GiveUpWhenStoppedOrLate) {
  ThreadPool pool;
  Prng random(1);
  for (const std::uint64_t bytes : {8u, 5'000u})
    for (const bool sends : {true, false})
      for (const bool is_late : {true, false}) {
        const Capacity capacity{.world = 3, .packets = 8, .staged = 512, .letters = 8};
        Interpreter interpreter(pool, {.capacity = capacity});
        Group group;
        for (int i = 0; i < 3; ++i) group.add(0, 2, bytes, random);
        const std::uint32_t rank = sends ? 0 : 2;
        interpreter.launch(rank, group.of(rank, 3), 2);
        EXPECT_EQ(interpreter.run(), Interpreter::End::stuck);
        is_late ? interpreter.time_out() : interpreter.stop(rank);
        EXPECT_EQ(interpreter.run(), Interpreter::End::done);
        EXPECT_EQ(interpreter.report(rank).code, is_late ? Report::late : Report::aborted);
        EXPECT_EQ(interpreter.report(rank).peer, sends ? 2u : 0u);
      }
}

TEST(Transfers, AreCutAlikeAtBothEndsAndNoStripeIsEmpty) {
  Prng random(7);
  for (int i = 0; i < 20'000; ++i) {
    const Capacity capacity = capacity_of(2, random);
    const std::uint64_t bytes = random.below(std::uint64_t{1} << random.below(40));
    const kernels::Cut cut(bytes, capacity);
    ASSERT_GE(cut.stripes, 1u);
    ASSERT_LE(cut.stripes, capacity.stripes);
    ASSERT_EQ(cut.share % 16, 0u);
    ASSERT_GE(cut.share * cut.stripes, bytes);
    if (cut.stripes > 1) {
      ASSERT_LT(cut.share * (cut.stripes - 1), bytes);
    }
    ASSERT_EQ(cut.chunk % 16, 0u);
    ASSERT_GT(cut.chunk, 0u);
  }
}

}  // namespace
}  // namespace hocket::cpu
