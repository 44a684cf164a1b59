// SPDX-License-Identifier: Apache-2.0
// The interpreter by itself: swaps written out by hand, and each way not to end well. What plans
// are lowered to runs in scenario/stream_test.cc.
#include "device/cpu/interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "testing/cases.h"

namespace hocket::cpu {
namespace {

using kernels::Report;
using Numbers = std::vector<std::int32_t>;

std::byte* bytes(Numbers& numbers) { return reinterpret_cast<std::byte*>(numbers.data()); }

/// Every rank gives `count` numbers to all, who store or add them.
struct Exchange {
  Exchange(std::uint32_t ranks, std::uint64_t elements, world::Combine how)
      : world(ranks), count(elements), combine(how) {
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      Numbers& input = inputs.emplace_back(count);
      std::iota(input.begin(), input.end(), static_cast<std::int32_t>(1'000 * rank));
      outputs.emplace_back(stores() ? count * world : count, -1);
    }
  }
  bool stores() const { return combine == world::Combine::store; }
  world::Action action(std::uint32_t rank, std::uint32_t blocks, std::uint32_t threads) {
    world::Action action;
    action.blocks = blocks;
    action.threads = threads;
    action.signature = signature;
    action.swap = {.input = bytes(inputs[rank]),
                   .output = bytes(outputs[rank]),
                   .sent = {count, 0},
                   .received = {count, stores() ? count : 0},
                   .combine = combine,
                   .type = DataType::int32};
    return action;
  }
  Numbers expected() const {
    Numbers all;
    for (const Numbers& input : inputs) all.insert(all.end(), input.begin(), input.end());
    if (stores()) return all;
    Numbers sums(count);
    for (std::size_t i = 0; i < all.size(); ++i) sums[i % count] += all[i];
    return sums;
  }
  bool right() const {
    return std::all_of(outputs.begin(), outputs.end(),
                       [this](const Numbers& output) { return output == expected(); });
  }

  const std::uint32_t world;
  const std::uint64_t count;
  const world::Combine combine;
  std::uint32_t signature = 77;
  std::vector<Numbers> inputs, outputs;
};

DomainOptions domain(std::uint32_t world, std::uint64_t seed = 1) {
  return {.capacity = {.world = world, .packets = 64}, .seed = seed};
}

void launch(Interpreter& interpreter, Exchange& exchange, std::uint32_t blocks,
            std::uint32_t threads) {
  for (std::uint32_t rank = 0; rank < exchange.world; ++rank)
    interpreter.launch(rank, exchange.action(rank, blocks, threads));
}

TEST(Interpreter, SwapsInAnyInterleaving) {
  ThreadPool pool;
  for (int seed = 0; seed < testing::cases(100); ++seed) {
    const auto n = static_cast<std::uint32_t>(seed);
    Interpreter interpreter(pool, domain(2 + n % 15, n));
    const std::uint32_t world = 2 + n % 15;
    std::deque<Exchange> exchanges;
    for (std::uint32_t i = 0; i < 6; ++i) {
      const world::Combine how = i % 3 == 0   ? world::Combine::store
                                 : i % 3 == 1 ? world::Combine::fold_by_rank
                                              : world::Combine::fold_by_round;
      exchanges.emplace_back(world, 7 * i + n % 3, how);
      launch(interpreter, exchanges.back(), 1 + (i + n) % 3, 1 + (i * n) % 5);
    }
    ASSERT_EQ(interpreter.run(), Interpreter::End::done) << interpreter.waiting();
    for (const Exchange& exchange : exchanges) ASSERT_TRUE(exchange.right()) << seed;
    for (std::uint32_t rank = 0; rank < world; ++rank) EXPECT_EQ(interpreter.ended(rank), 6u);
  }
}

/// A part for one rank alone: what `root` has goes to all, or what all have to `root`, or nothing.
enum class Rooted { stored, folded, empty };

world::Swap rooted_swap(Rooted how, std::uint32_t root, std::uint32_t me, Exchange& exchange) {
  world::Swap swap = exchange.action(me, 1, 1).swap;
  const world::Parts all = {exchange.count}, none = {};
  world::Parts roots = all;
  roots.only = root;
  swap.sent = how == Rooted::folded ? roots : none;
  swap.received = how == Rooted::stored ? roots : none;
  if (me == root && how == Rooted::stored) swap.sent = all;
  if (me == root && how == Rooted::folded) swap.received = all;
  return swap;
}

void expect_rooted(Rooted how, std::uint32_t root, const Exchange& exchange) {
  for (std::uint32_t rank = 0; rank < exchange.world; ++rank) {
    const Numbers untouched(exchange.outputs[rank].size(), -1);
    Numbers expected = untouched;
    if (how == Rooted::stored)
      std::copy(exchange.inputs[root].begin(), exchange.inputs[root].end(), expected.begin());
    if (how == Rooted::folded && rank == root) expected = exchange.expected();
    EXPECT_EQ(exchange.outputs[rank], expected) << "root " << root << " rank " << rank;
  }
}

/// All but `late` launch first.
void run_rooted(ThreadPool& pool, Rooted how, std::uint32_t root, world::Lowering lowering) {
  constexpr std::uint32_t kWorld = 4;
  const world::Combine combine =
      how == Rooted::folded ? world::Combine::fold_by_round : world::Combine::store;
  for (std::uint32_t late = 0; late < kWorld; ++late) {
    DomainOptions options = domain(kWorld, late);
    options.capacity.staged = 256;
    Interpreter interpreter(pool, options);
    Exchange exchange(kWorld, 21, combine);
    const auto launch_on = [&](std::uint32_t rank) {
      world::Action action = exchange.action(rank, 2, 5);
      action.lowering = lowering;
      action.swap = rooted_swap(how, root, rank, exchange);
      interpreter.launch(rank, action);
    };
    for (std::uint32_t rank = 0; rank < kWorld; ++rank)
      if (rank != late) launch_on(rank);
    EXPECT_EQ(interpreter.run(), Interpreter::End::stuck);
    for (std::uint32_t rank = 0; rank < kWorld; ++rank) EXPECT_EQ(interpreter.ended(rank), 0u);
    launch_on(late);
    ASSERT_EQ(interpreter.run(), Interpreter::End::done) << interpreter.waiting();
    expect_rooted(how, root, exchange);
  }
}

// Whoever gets nothing, or gives nothing, waits for all nevertheless.
TEST(Interpreter, SwapsOfPartsForOneRankAlone) {
  ThreadPool pool;
  for (const Rooted how : {Rooted::stored, Rooted::folded, Rooted::empty})
    for (const world::Lowering lowering : {world::Lowering::packet, world::Lowering::staged})
      for (std::uint32_t root = 0; root < 4; ++root) run_rooted(pool, how, root, lowering);
}

TEST(Interpreter, FollowsFromItsSeed) {
  ThreadPool pool;
  const auto turns_with = [&pool](std::uint64_t seed) {
    Interpreter interpreter(pool, domain(3, seed));
    Exchange exchange(3, 50, world::Combine::fold_by_rank);
    launch(interpreter, exchange, 2, 4);
    EXPECT_EQ(interpreter.run(), Interpreter::End::done);
    return interpreter.turns();
  };
  EXPECT_EQ(turns_with(1), turns_with(1));
  EXPECT_NE(turns_with(1), turns_with(2));
}

TEST(Interpreter, RunsMoreBlocksAndThreadsThanWords) {
  ThreadPool pool;
  Interpreter interpreter(pool, domain(2));
  Exchange exchange(2, 100, world::Combine::store);
  launch(interpreter, exchange, 4, 256);
  launch(interpreter, exchange, 64, 2);
  EXPECT_EQ(interpreter.run(), Interpreter::End::done);
  EXPECT_TRUE(exchange.right());
}

// A rank ends an op once all have come to it: never more than one op before another, but that.
TEST(Interpreter, LetsRanksRunAhead) {
  ThreadPool pool;
  Interpreter interpreter(pool, domain(3));
  std::deque<Exchange> exchanges;
  for (int i = 0; i < 20; ++i) {
    exchanges.emplace_back(3, 4, world::Combine::store);
    launch(interpreter, exchanges.back(), 1, 2);
  }
  std::uint32_t lead = 0;
  while (interpreter.run(1) == Interpreter::End::paused)
    for (std::uint32_t a = 0; a < 3; ++a)
      for (std::uint32_t b = 0; b < 3; ++b)
        if (interpreter.ended(a) > interpreter.ended(b))
          lead = std::max(lead, interpreter.ended(a) - interpreter.ended(b));
  EXPECT_EQ(lead, 1u);
  for (const Exchange& exchange : exchanges) EXPECT_TRUE(exchange.right());
}

TEST(Interpreter, SaysWhoWaitsForWhom) {
  ThreadPool pool;
  Interpreter interpreter(pool, domain(3));
  Exchange exchange(3, 4, world::Combine::store);
  interpreter.launch(0, exchange.action(0, 1, 3));
  interpreter.launch(1, exchange.action(1, 1, 1));
  EXPECT_EQ(interpreter.run(), Interpreter::End::stuck);
  EXPECT_EQ(interpreter.waiting(),
            "rank 0 waits for rank 2 in lap 1: 2 threads\n"
            "rank 0 waits for the others of block 0: 1 thread\n"
            "rank 1 waits for rank 2 in lap 1: 1 thread\n");
  interpreter.launch(2, exchange.action(2, 1, 1));
  EXPECT_EQ(interpreter.run(), Interpreter::End::done);
  EXPECT_TRUE(exchange.right());
}

/// Rank 0 sends to two places of rank 1, and twice to the first; rank 1 looks at the second, then
/// at the first.
void race(Thread& thread, const kernels::Domain& domain, const world::Action& action) {
  kernels::Packet* const slot = kernels::mailbox(domain, 1).packets(1, 0);
  if (domain.me == 0) {
    thread.store_packet(slot, {.data = 1});
    thread.store_packet(slot, {.data = 2});
    thread.store_packet(slot + 1, {.data = 3});
  } else {
    const std::uint64_t second = thread.load_packet(slot + 1).data;
    const std::uint64_t first = thread.load_packet(slot).data;
    *action.swap.output = static_cast<std::byte>(10 * first + second);
  }
}

TEST(Interpreter, PacketsComeInAnyOrderButWholeAndInThatOfTheirPlace) {
  ThreadPool pool;
  std::array<int, 100> seen = {};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    DomainOptions options = domain(2, seed);
    options.kernel = &race;
    Interpreter interpreter(pool, options);
    world::Action action;
    std::byte result{99};
    action.swap.output = &result;
    for (std::uint32_t rank = 0; rank < 2; ++rank) interpreter.launch(rank, action);
    EXPECT_EQ(interpreter.run(), Interpreter::End::done);
    ++seen[static_cast<std::size_t>(result)];
  }
  for (const std::size_t possible : {0u, 10u, 20u, 3u, 13u, 23u}) {
    EXPECT_GT(seen[possible], 0) << possible;
    seen[possible] = 0;
  }
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 0);
}

/// Two threads of rank 0 send a vector each and then, together, a flag; `synced`: as they have to.
template <bool synced>
void push(Thread& thread, const kernels::Domain& domain, const world::Action& action) {
  const kernels::Mailbox box = kernels::mailbox(domain, 1);
  std::byte* const staging = box.staging(1, 0);
  if (domain.me == 0) {
    thread.store_vector(staging + 16 * thread.thread(), {thread.thread() + 1, 0});
    if (synced) thread.sync();
    if (thread.thread() == 0) thread.store_flag(box.flags(1, 0), {1, 7});
  } else if (thread.thread() == 0) {
    while (thread.load_flag(box.flags(1, 0)).lap != 1)
      if (!thread.patient(1, domain, 0, 1)) return;
    const std::uint64_t sum =
        thread.load_vector(staging).low + thread.load_vector(staging + 16).low;
    *action.swap.output = static_cast<std::byte>(sum);
  }
}

std::array<int, 4> sums_of(Kernel* kernel) {
  ThreadPool pool;
  std::array<int, 4> seen = {};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    DomainOptions options = domain(2, seed);
    options.capacity.staged = 128;
    options.kernel = kernel;
    Interpreter interpreter(pool, options);
    world::Action action;
    action.threads = 2;
    std::byte result{99};
    action.swap.output = &result;
    for (std::uint32_t rank = 0; rank < 2; ++rank) interpreter.launch(rank, action);
    EXPECT_EQ(interpreter.run(), Interpreter::End::done) << interpreter.waiting();
    ++seen[static_cast<std::size_t>(result)];
  }
  return seen;
}

TEST(Interpreter, AFlagComesAfterWhatItsBlockHasSent) {
  EXPECT_EQ(sums_of(&push<true>), (std::array{0, 0, 0, 200}));
  const std::array<int, 4> unsynced = sums_of(&push<false>);
  EXPECT_EQ(unsynced[0] + unsynced[2], 0) << "its own";
  EXPECT_GT(unsynced[1], 0) << "that of another thread, without a sync";
  EXPECT_GT(unsynced[3], 0);
}

TEST(Interpreter, SyncTellsWhetherAllAreGood) {
  ThreadPool pool;
  Interpreter interpreter(
      pool,
      {.capacity = {.world = 2},
       .kernel = [](Thread& thread, const kernels::Domain& domain, const world::Action& action) {
         const bool all = thread.sync(true), most = thread.sync(thread.thread() != domain.me);
         action.swap.output[thread.thread()] = static_cast<std::byte>(2 * all + most);
       }});
  std::array<std::byte, 4> results = {};
  world::Action action;
  action.threads = 4;
  action.swap.output = results.data();
  interpreter.launch(1, action);
  EXPECT_EQ(interpreter.run(), Interpreter::End::done);
  for (const std::byte result : results) EXPECT_EQ(result, std::byte{2});
}

void expect_report(const Report& report, Report expected) {
  EXPECT_EQ(report.code, expected.code);
  EXPECT_EQ(report.peer, expected.peer);
  EXPECT_EQ(report.lap, expected.lap);
  EXPECT_EQ(report.seen, expected.seen);
}

TEST(Interpreter, StopsAtAnyTurn) {
  ThreadPool pool;
  for (std::uint64_t turns = 0; turns < 60; ++turns) {
    Interpreter interpreter(pool, domain(2, turns));
    Exchange first(2, 9, world::Combine::store), second(2, 9, world::Combine::fold_by_rank);
    launch(interpreter, first, 2, 3);
    EXPECT_EQ(interpreter.run(), Interpreter::End::done);
    interpreter.launch(0, second.action(0, 2, 3));
    interpreter.launch(0, second.action(0, 1, 1));
    interpreter.run(turns);
    interpreter.stop(0);
    EXPECT_EQ(interpreter.run(), Interpreter::End::done) << "its stream drains";
    expect_report(interpreter.report(0), {1, 2, 0, Report::aborted});
    expect_report(interpreter.report(1), {});
    EXPECT_EQ(interpreter.ended(0), 3u);
  }
}

TEST(Interpreter, GivesUpAtTheDeadline) {
  ThreadPool pool;
  Interpreter interpreter(pool, domain(2));
  Exchange exchange(2, 9, world::Combine::store);
  interpreter.launch(1, exchange.action(1, 2, 3));
  EXPECT_EQ(interpreter.run(), Interpreter::End::stuck);
  interpreter.time_out();
  EXPECT_EQ(interpreter.run(), Interpreter::End::done);
  expect_report(interpreter.report(1), {0, 1, 0, Report::late});
}

// More words are waited for than come: who has seen one that is another op's ends them all.
TEST(Interpreter, ReportsAMismatch) {
  ThreadPool pool;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Interpreter interpreter(pool, domain(2, seed));
    Exchange small(2, 1, world::Combine::fold_by_rank), large(2, 40, world::Combine::fold_by_rank);
    large.signature = 99;
    interpreter.launch(0, small.action(0, 1, 4));
    interpreter.launch(1, large.action(1, 3, 4));
    EXPECT_EQ(interpreter.run(), Interpreter::End::done) << interpreter.waiting();
    expect_report(interpreter.report(0), {1, 1, 99, Report::mismatch});
    expect_report(interpreter.report(1), {0, 1, 77, Report::mismatch});
    EXPECT_EQ(small.outputs[0], Numbers{-1}) << "refused before the output is written";
    EXPECT_EQ(large.outputs[1], Numbers(40, -1));
  }
}

// A lap after the largest there is must not be that of a mailbox in which nothing was written yet.
TEST(Interpreter, LapsWrap) {
  ThreadPool pool;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    DomainOptions options = domain(2, seed);
    options.lap = ~0u - 3;
    Interpreter interpreter(pool, options);
    std::deque<Exchange> exchanges;
    for (std::uint64_t count = 2; count < 10; ++count) {
      exchanges.emplace_back(2, 4 * count, world::Combine::store);
      launch(interpreter, exchanges.back(), 1, 3);
    }
    EXPECT_EQ(interpreter.run(), Interpreter::End::done) << interpreter.waiting();
    for (const Exchange& exchange : exchanges) EXPECT_TRUE(exchange.right()) << seed;
  }
}

}  // namespace
}  // namespace hocket::cpu
