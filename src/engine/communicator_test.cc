// SPDX-License-Identifier: Apache-2.0
// The order of ops, their phases, and how a communicator fails, rank by rank.
#include "engine/communicator.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "engine/fake_streams_suite.h"
#include "engine/fake_world_suite.h"

namespace hocket::engine {
namespace {

constexpr Duration kLong = seconds(1000);

template <class T>
constexpr DataType kTypeOf = DataType::int32;
template <>
constexpr DataType kTypeOf<float> = DataType::float32;

/// An op on `count` elements of T, from `input` to `output`.
template <class T>
Call call(Collective collective, std::uint64_t count, const T* input, T* output) {
  Call made;
  made.request.collective = collective;
  made.request.type = kTypeOf<T>;
  made.request.count = count;
  made.input = reinterpret_cast<const std::byte*>(input);
  made.output = reinterpret_cast<std::byte*>(output);
  return made;
}

Call message(bool sends, std::uint32_t peer, std::int32_t* value) {
  Call made = call<std::int32_t>(Collective::send_recv, 1, sends ? value : nullptr,
                                 sends ? nullptr : value);
  made.request.sends = sends;
  made.request.root = Rank{peer};
  return made;
}

std::string text_of(const Op& op) { return op.error() != nullptr ? op.error()->text() : "well"; }

class CommunicatorTest : public ::testing::Test {
 protected:
  void make(std::uint32_t world, const fake::Options& options = {}) {
    world_.emplace(process_, clock_, world, options);
  }
  Communicator& rank(std::uint32_t r) { return world_->ranks[r]; }
  fake::Parts& parts(std::uint32_t r) { return world_->parts[r]; }

  Op& submit(std::uint32_t r, std::vector<Call> calls) {
    Result<Op*> op = rank(r).submit(calls);
    EXPECT_TRUE(op);
    return **op;
  }
  Op& barrier(std::uint32_t r) {
    return submit(r, {call<std::int32_t>(Collective::barrier, 0, nullptr, nullptr)});
  }
  /// An all_reduce of one number in place.
  Op& add_up(std::uint32_t r, std::int32_t* value) {
    Call made = call<std::int32_t>(Collective::all_reduce, 1, value, value);
    made.request.in_place = true;
    return submit(r, {made});
  }
  void finish(Op& op) {
    EXPECT_TRUE(process_.wait(op, kLong));
    op.communicator().release(op);
  }
  std::string finish_failed(Op& op) {
    EXPECT_TRUE(process_.wait(op, kLong));
    std::string text = text_of(op);
    op.communicator().release(op);
    return text;
  }
  std::string refusal(std::uint32_t r, std::vector<Call> calls) {
    Result<Op*> op = rank(r).submit(calls);
    return op ? "none" : op.error().text();
  }

  fake::Clock clock_;
  fake::Bell callers_{clock_}, progress_{clock_};
  Process process_{clock_, callers_, progress_};
  std::optional<fake::World> world_;
};

// ---- order -------------------------------------------------------------------------------------

TEST_F(CommunicatorTest, OpsRunInTheOrderOfSubmission) {
  make(3);
  std::array<std::array<std::int32_t, 4>, 3> values;
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 3; ++r)
    for (std::size_t k = 0; k < 4; ++k) {
      values[r][k] = static_cast<std::int32_t>((k + 1) * (r + 1));
      ops.push_back(&add_up(r, &values[r][k]));
      EXPECT_EQ(ops.back()->seq(), OpSeq{k + 1});
    }
  EXPECT_EQ(rank(1).pending(), 4u);
  for (Op* op : ops) finish(*op);
  EXPECT_EQ(rank(1).pending(), 0u);
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(values[r], (std::array{6, 12, 18, 24}));
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(parts(2).fabric.entries[k].op, OpSeq{k + 1});
}

TEST_F(CommunicatorTest, TheRecorderHearsOfEachStep) {
  make(1);
  std::int32_t value = 7;
  finish(add_up(0, &value));
  const std::vector<trace::Event>& events = parts(0).sink.events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, trace::Kind::op_submitted);
  EXPECT_EQ(events[0].a, 4u);
  EXPECT_EQ(events[0].b, static_cast<std::uint32_t>(DataType::int32) << 8);
  EXPECT_EQ(events[1].kind, trace::Kind::op_started);
  EXPECT_EQ(events[2].kind, trace::Kind::op_completed);
  for (const trace::Event& event : events) EXPECT_EQ(event.op, 1u);
}

TEST_F(CommunicatorTest, TenThousandQueuedOpsEndWithoutRecursion) {
  make(1);
  constexpr std::size_t kOps = 10'000;
  std::vector<std::int32_t> values(kOps, 5);
  std::vector<Op*> ops;
  for (std::int32_t& value : values) ops.push_back(&add_up(0, &value));
  EXPECT_EQ(rank(0).pending(), kOps);
  EXPECT_TRUE(process_.test(*ops[0]));  // one turn delivers all mail, and all end in it
  EXPECT_EQ(rank(0).pending(), 0u);
  for (Op* op : ops) finish(*op);
}

TEST_F(CommunicatorTest, WhatIsPreparedAndDiscardedHasNotHappened) {
  make(2);
  std::int32_t values[2] = {1, 2};
  Call made = call<std::int32_t>(Collective::all_reduce, 1, &values[0], &values[0]);
  made.request.in_place = true;
  Result<Op*> op = rank(0).prepare({&made, 1});
  ASSERT_TRUE(op);
  EXPECT_EQ(rank(0).pending(), 0u);
  rank(0).discard(**op);
  Op& first = add_up(0, &values[0]);
  EXPECT_EQ(first.seq(), OpSeq{1});
  Op& second = add_up(1, &values[1]);
  finish(first);
  finish(second);
  EXPECT_EQ(values[0], 3);
}

TEST_F(CommunicatorTest, OpsAreNumberedWhenTheyAreCommitted) {
  make(1);
  std::int32_t values[2] = {1, 2};
  const Call made = call<std::int32_t>(Collective::all_reduce, 1, &values[0], &values[1]);
  Result<Op*> late = rank(0).prepare({&made, 1});
  ASSERT_TRUE(late);
  Op& early = barrier(0);
  rank(0).commit(**late);
  EXPECT_EQ(early.seq(), OpSeq{1});
  EXPECT_EQ((*late)->seq(), OpSeq{2});
  finish(early);
  finish(**late);
  EXPECT_EQ(values[1], 1);
}

TEST_F(CommunicatorTest, RanksChooseAlikeWhetherInPlaceOrNot) {
  make(3, {.channels = 4});
  for (const Collective collective :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
        Collective::broadcast, Collective::reduce})
    for (std::uint32_t power = 0; power < 24; ++power) {
      Call made = call<std::int32_t>(collective, std::uint64_t{1} << power, nullptr, nullptr);
      Result<Op*> apart = rank(0).prepare({&made, 1});
      made.request.in_place = true;
      Result<Op*> in_place = rank(0).prepare({&made, 1});
      ASSERT_TRUE(apart && in_place);
      Plan a = (*apart)->works()[0].plan;
      const Plan& b = (*in_place)->works()[0].plan;
      EXPECT_EQ(a.algorithm, b.algorithm) << name_of(collective) << " 2^" << power;
      EXPECT_EQ(std::tuple(a.channels, a.pieces, a.slice_bytes),
                std::tuple(b.channels, b.pieces, b.slice_bytes));
      EXPECT_FALSE(a.request.in_place);
      EXPECT_TRUE(b.request.in_place);
      rank(0).discard(**apart);
      rank(0).discard(**in_place);
    }
}

TEST_F(CommunicatorTest, InPlaceAndNotMeetInOneOp) {
  for (const char* algorithm : {"ring", "halving_doubling", "direct", "one_shot"}) {
    make(2, {.algorithm = algorithm});
    std::array<std::int32_t, 5> in{1, 2, 3, 4, 5}, out{}, both{10, 20, 30, 40, 50};
    Op& apart = submit(0, {call<std::int32_t>(Collective::all_reduce, 5, in.data(), out.data())});
    Call made = call<std::int32_t>(Collective::all_reduce, 5, both.data(), both.data());
    made.request.in_place = true;
    Op& in_place = submit(1, {made});
    finish(apart);
    finish(in_place);
    EXPECT_EQ(out, (std::array{11, 22, 33, 44, 55})) << algorithm;
    EXPECT_EQ(both, out) << algorithm;
    EXPECT_EQ(in[4], 5);
  }
}

// ---- messages that repeat the one before -------------------------------------------------------

TEST_F(CommunicatorTest, WhatGoesToSeveralIsRepeated) {
  struct Case {
    const char* algorithm;
    std::uint64_t repeated;  // by each rank
  };
  // direct: what a rank added up goes to three; one_shot: so does all of its input. The others send
  // nothing twice.
  for (const auto& [algorithm, repeated] :
       {Case{"direct", 2}, {"one_shot", 2}, {"ring", 0}, {"halving_doubling", 0}}) {
    make(4, {.algorithm = algorithm});
    std::array<std::array<std::int32_t, 4>, 4> values;
    std::vector<Op*> ops;
    for (std::uint32_t r = 0; r < 4; ++r) {
      values[r] = {1, 10, 100, static_cast<std::int32_t>(r)};
      Call made = call<std::int32_t>(Collective::all_reduce, 4, values[r].data(), values[r].data());
      made.request.in_place = true;
      ops.push_back(&submit(r, {made}));
    }
    for (Op* op : ops) finish(*op);
    for (std::uint32_t r = 0; r < 4; ++r) {
      EXPECT_EQ(values[r], (std::array{4, 40, 400, 6})) << algorithm;
      EXPECT_EQ(parts(r).fabric.repeated, repeated) << algorithm;
    }
  }
}

// Rank 0 sends the same place twice, but waits in between for what arrives there.
Exchange there_and_back(const At& at, std::uint32_t k) {
  const Rank sender{k % 2}, receiver{1 - k % 2};
  Exchange x;
  x.after = k;
  x.staged = k == 0;
  if (at.me == sender) {
    x.to = receiver;
    x.out = {.count = 1};
  } else {
    x.from = sender;
    x.in = {.count = 1};
    if (k == 0) x.fold = Fold::output;
  }
  return x;
}

TEST_F(CommunicatorTest, WhatHasChangedSinceIsNotRepeated) {
  const Algorithm algorithm{.name = "there_and_back",
                            .collective = Collective::all_reduce,
                            .fits = [](const Topology&) { return true; },
                            .shape = [](const Topology&) { return Shape{1, 3}; },
                            .round = there_and_back,
                            .depth = [](const Topology&) { return 1u; }};
  make(2);
  std::array<std::int32_t, 2> values{3, 4};
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Call made = call<std::int32_t>(Collective::all_reduce, 1, &values[r], &values[r]);
    made.request.in_place = true;
    made.algorithm = &algorithm;
    ops.push_back(&submit(r, {made}));
  }
  for (Op* op : ops) finish(*op);
  EXPECT_EQ(values, (std::array{7, 7}));
  EXPECT_EQ(parts(0).fabric.repeated, 0u);
}

// ---- phases ------------------------------------------------------------------------------------

TEST_F(CommunicatorTest, AvgOfFloatsDividesInputsIntoTheOutputFirst) {
  make(2, {.algorithm = "ring"});
  std::array<float, 2> in[2] = {{2, 4}, {6, 8}}, out[2] = {};
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Call made = call<float>(Collective::all_reduce, 2, in[r].data(), out[r].data());
    made.request.op = ReduceOp::avg;
    ops.push_back(&submit(r, {made}));
  }
  for (Op* op : ops) finish(*op);
  for (std::uint32_t r = 0; r < 2; ++r) {
    EXPECT_EQ(out[r], (std::array{4.0f, 6.0f}));
    ASSERT_EQ(parts(r).device.scales.size(), 1u);
    const world::Scale& scale = parts(r).device.scales[0];
    EXPECT_EQ(scale.divisor, 2u);
    EXPECT_EQ(scale.source.data, reinterpret_cast<const std::byte*>(in[r].data()));
    EXPECT_EQ(scale.target.data, reinterpret_cast<std::byte*>(out[r].data()));
    EXPECT_EQ(scale.target.size, 8u);
  }
  EXPECT_EQ(in[0], (std::array{2.0f, 4.0f}));  // inputs are read only
}

TEST_F(CommunicatorTest, AvgOfFloatsDividesIntoScratchWhereTheOutputIsSmaller) {
  make(2, {.algorithm = "ring"});
  std::array<float, 4> in[2] = {{2, 4, 6, 8}, {10, 12, 14, 16}};
  std::array<float, 2> out[2] = {};
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Call made = call<float>(Collective::reduce_scatter, 2, in[r].data(), out[r].data());
    made.request.op = ReduceOp::avg;
    ops.push_back(&submit(r, {made}));
  }
  for (Op* op : ops) finish(*op);
  EXPECT_EQ(out[0], (std::array{6.0f, 8.0f}));
  EXPECT_EQ(out[1], (std::array{10.0f, 12.0f}));
  EXPECT_EQ(in[0], (std::array{2.0f, 4.0f, 6.0f, 8.0f}));
  EXPECT_EQ(parts(0).device.scales[0].target.size, 16u);
  EXPECT_EQ(parts(0).device.allocated.size(), 1u);
}

TEST_F(CommunicatorTest, AvgOfIntegersDividesTheSumTowardsZero) {
  make(3, {.algorithm = "direct"});
  std::array<std::int32_t, 2> values[3] = {{1, -1}, {2, -2}, {5, -5}};
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 3; ++r) {
    Call made = call<std::int32_t>(Collective::all_reduce, 2, values[r].data(), values[r].data());
    made.request.op = ReduceOp::avg;
    made.request.in_place = true;
    ops.push_back(&submit(r, {made}));
  }
  for (Op* op : ops) finish(*op);
  for (const auto& value : values) EXPECT_EQ(value, (std::array{2, -2}));
  EXPECT_EQ(parts(0).device.scales.size(), 1u);
}

TEST_F(CommunicatorTest, OnlyTheRootOfAReduceDividesIntegers) {
  make(2, {.algorithm = "chain"});
  std::int32_t values[2] = {3, 6}, out = 0;
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Call made = call<std::int32_t>(Collective::reduce, 1, &values[r], r == 1 ? &out : nullptr);
    made.request.op = ReduceOp::avg;
    made.request.root = Rank{1};
    ops.push_back(&submit(r, {made}));
  }
  for (Op* op : ops) finish(*op);
  EXPECT_EQ(out, 4);
  EXPECT_EQ(parts(0).device.scales.size(), 0u);
  EXPECT_EQ(parts(1).device.scales.size(), 1u);
}

TEST_F(CommunicatorTest, AvgOfAWorldOfOneIsTheInput) {
  make(1);
  const float in = 0.1f;
  float out = 0;
  Call made = call<float>(Collective::all_reduce, 1, &in, &out);
  made.request.op = ReduceOp::avg;
  finish(submit(0, {made}));
  EXPECT_EQ(out, 0.1f);
  EXPECT_TRUE(parts(0).device.scales.empty());
}

TEST_F(CommunicatorTest, APhaseThatTakesTimeHoldsTheNextOneBack) {
  make(2, {.algorithm = "ring"});
  std::array<float, 2> in[2] = {{2, 4}, {6, 8}}, out[2] = {};
  parts(0).device.keeps = true;
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Call made = call<float>(Collective::all_reduce, 2, in[r].data(), out[r].data());
    made.request.op = ReduceOp::avg;
    ops.push_back(&submit(r, {made}));
  }
  EXPECT_FALSE(process_.wait(*ops[0], milliseconds(20)));
  EXPECT_FALSE(ops[1]->done());
  ASSERT_EQ(parts(0).device.kept.size(), 1u);
  EXPECT_TRUE((world_->board.links[{Rank{0}, Rank{1}, ChannelId{0}}].empty()));
  while (!ops[0]->done() || !ops[1]->done()) {
    process_.kick();
    if (!parts(0).device.kept.empty()) parts(0).device.end_one();
  }
  for (Op* op : ops) finish(*op);
  EXPECT_EQ(out[0], (std::array{4.0f, 6.0f}));
}

// ---- scratch -----------------------------------------------------------------------------------

TEST_F(CommunicatorTest, ScratchIsKeptAndGrows) {
  make(1, {.algorithm = "one_shot"});
  const auto one_shot = [&](std::uint64_t count) {
    std::vector<std::int32_t> values(count, 1);
    Call made = call<std::int32_t>(Collective::all_reduce, count, values.data(), values.data());
    made.request.in_place = true;
    finish(submit(0, {made}));
  };
  for (const std::uint64_t count : {20u, 10u, 20u, 33u, 32u}) one_shot(count);
  EXPECT_EQ(parts(0).device.allocated, (std::vector<std::uint64_t>{128, 192}));
  EXPECT_EQ(parts(0).device.freed, 1);
  world_.reset();
}

TEST_F(CommunicatorTest, NoMemoryForScratchIsAFailureThatAllHearOf) {
  make(2, {.algorithm = "ring"});
  std::array<float, 4> in[2] = {};
  std::array<float, 2> out[2] = {};
  parts(0).device.most_bytes = 8;
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 2; ++r) {
    Call made = call<float>(Collective::reduce_scatter, 2, in[r].data(), out[r].data());
    made.request.op = ReduceOp::avg;
    ops.push_back(&submit(r, {made}));
  }
  EXPECT_EQ(finish_failed(*ops[0]), "rank 0: op 1: out of memory: injected");
  EXPECT_EQ(finish_failed(*ops[1]),
            "rank 1: op 1: out of memory: reported by rank 0 in collective 1");
  EXPECT_TRUE(parts(0).fabric.entries.empty());
}

// ---- failure -----------------------------------------------------------------------------------

TEST_F(CommunicatorTest, ADeadlineNamesWhoDidNotEnter) {
  make(4, {.op_timeout = milliseconds(100)});
  std::vector<Op*> ops;
  for (const std::uint32_t r : {0u, 1u, 3u}) ops.push_back(&barrier(r));
  const Instant start = clock_.now();
  const std::string first = finish_failed(*ops[0]);
  const Duration taken = clock_.now() - start;
  EXPECT_EQ(first,
            "rank 0: op 1: peer 2: timeout: not done 100 ms after its start: rank 2 did not enter "
            "it");
  EXPECT_GE(taken, milliseconds(100));
  EXPECT_LT(taken, milliseconds(103));
  // Their own deadlines passed in the same turn: what they say themselves is the cause.
  for (const std::uint32_t i : {1u, 2u}) {
    const std::string text = finish_failed(*ops[i]);
    EXPECT_NE(text.find("peer 2: timeout: reported by rank 0 in collective 1"), std::string::npos)
        << text;
  }
}

TEST_F(CommunicatorTest, ADeadlineNamesAFewAndCountsTheRest) {
  make(12, {.op_timeout = milliseconds(5)});
  EXPECT_EQ(finish_failed(barrier(3)),
            "rank 3: op 1: peer 0: timeout: not done 5 ms after its start: ranks 0, 1, 2, 4, 5, 6, "
            "7, 8 and 3 more did not enter it");
}

TEST_F(CommunicatorTest, ADeadlineCountsFromTheStartOfTheOp) {
  make(2, {.op_timeout = milliseconds(50)});
  Op& first = barrier(0);
  Op& second = barrier(0);
  EXPECT_FALSE(process_.wait(first, milliseconds(40)));
  finish(barrier(1));
  finish(first);
  EXPECT_FALSE(process_.wait(second, milliseconds(40)));  // 80 ms after it was submitted
  finish(barrier(1));
  finish(second);
}

TEST_F(CommunicatorTest, ADeadlineSaysWhoIsAwaitedWhenAllHaveEntered) {
  make(2, {.op_timeout = milliseconds(5)});
  world_->board.held[0] = world_->board.held[1] = true;
  Op& mine = barrier(0);
  Op& theirs = barrier(1);
  EXPECT_EQ(finish_failed(mine),
            "rank 0: op 1: timeout: not done 5 ms after its start: all ranks entered it; rank 1 "
            "awaited");
  finish_failed(theirs);
}

TEST_F(CommunicatorTest, MessagesDoNotDisturbTheNumbersThatAllShare) {
  make(4, {.op_timeout = milliseconds(50)});
  std::int32_t values[2] = {1, 2};
  for (int i = 0; i < 5; ++i) {
    Op& send = submit(0, {message(true, 1, &values[0])});
    Op& receive = submit(1, {message(false, 0, &values[1])});
    finish(send);
    finish(receive);
  }
  EXPECT_EQ(values[1], 1);
  EXPECT_TRUE(parts(0).fabric.entries.empty());
  std::vector<Op*> ops;
  for (const std::uint32_t r : {0u, 1u, 2u}) ops.push_back(&barrier(r));
  EXPECT_EQ(ops[0]->seq(), OpSeq{6});
  EXPECT_EQ(finish_failed(*ops[0]),
            "rank 0: op 6: peer 3: timeout: not done 50 ms after its start: rank 3 did not enter "
            "it");
  for (const std::uint32_t i : {1u, 2u})
    EXPECT_NE(finish_failed(*ops[i]).find("peer 3: timeout"), std::string::npos);
}

TEST_F(CommunicatorTest, AMessageThatNobodyTakesNamesWhomItAwaits) {
  make(3, {.op_timeout = milliseconds(5)});
  std::int32_t value = 0;
  EXPECT_EQ(finish_failed(submit(0, {message(false, 2, &value)})),
            "rank 0: op 1: timeout: not done 5 ms after its start: rank 2 awaited");
}

TEST_F(CommunicatorTest, TheFirstFailureIsEverybodys) {
  make(3, {.algorithm = "direct"});
  parts(1).fabric.broken = Error(Code::peer_lost, "link is down").about_peer(Rank{2});
  parts(2).fabric.broken = Error(Code::system, "out of luck").about_peer(Rank{0});
  std::array<std::int32_t, 3> values{};
  std::vector<Op*> ops;
  for (std::uint32_t r = 0; r < 3; ++r) ops.push_back(&add_up(r, &values[r]));
  EXPECT_EQ(finish_failed(*ops[1]), "rank 1: op 1: peer 2: peer lost: link is down");
  EXPECT_EQ(finish_failed(*ops[2]),
            "rank 2: op 1: peer 2: peer lost: reported by rank 1 in collective 1");
  EXPECT_EQ(finish_failed(*ops[0]),
            "rank 0: op 1: peer 2: peer lost: reported by rank 1 in collective 1");
  for (std::uint32_t r = 0; r < 3; ++r) {
    const std::optional<Error> failure = rank(r).failure();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), Code::peer_lost);
    EXPECT_EQ(failure->peer(), Rank{2});
    const std::string refused =
        refusal(r, {call<std::int32_t>(Collective::barrier, 0, nullptr, nullptr)});
    EXPECT_NE(refused.find("peer 2: peer lost"), std::string::npos) << refused;
  }
}

TEST_F(CommunicatorTest, AFailureThatMembershipFoundHereIsSaidToBe) {
  make(3);
  world_->board.failure = world::Failure{Code::peer_lost, Rank{2}, Rank{1}, OpSeq{}};
  for (const std::uint32_t r : {0u, 1u}) process_.look(rank(r));
  ASSERT_TRUE(rank(0).failure() && rank(1).failure());
  EXPECT_EQ(rank(0).failure()->text(), "peer 2: peer lost: reported by rank 1");
  EXPECT_EQ(rank(1).failure()->text(), "peer 2: peer lost: noticed by this rank");
}

TEST_F(CommunicatorTest, AFailureOnStreamsIsEverybodys) {
  make(3);
  fake::StreamDevice device;
  rank(1).watch(device);
  process_.kick();
  EXPECT_FALSE(rank(1).failure());
  device.broken.emplace(Error(Code::mismatch, "rank 2 called something else").about_peer(Rank{2}));
  process_.kick();  // rank 1 publishes it
  process_.kick();  // the others look
  ASSERT_TRUE(rank(0).failure() && rank(1).failure());
  EXPECT_EQ(rank(1).failure()->text(), "peer 2: mismatch: rank 2 called something else");
  EXPECT_EQ(rank(0).failure()->text(), "peer 2: mismatch: reported by rank 1");
}

TEST_F(CommunicatorTest, AFailureStopsWhatRunsOnStreams) {
  make(3);
  fake::StreamDevice own, other;
  rank(0).watch(own);
  rank(2).watch(other);
  process_.kick();
  EXPECT_FALSE(own.stopped || other.stopped);
  rank(0).abort("by the test");
  process_.kick();
  EXPECT_TRUE(own.stopped && other.stopped);
}

TEST_F(CommunicatorTest, WhoFailsLaterKeepsItsOwnErrorAsTheCause) {
  make(2, {.algorithm = "direct"});
  parts(0).fabric.broken = Error(Code::system, "out of luck").about_peer(Rank{1});
  Op& op = barrier(0);
  const world::Failure theirs{Code::peer_lost, Rank{1}, Rank{1}, OpSeq{7}};
  // Published between this op's start and its own failure.
  class Publisher final : public fake::Membership::Watcher {
   public:
    Publisher(fake::Board& board, const world::Failure& failure)
        : board_(board), failure_(failure) {}
    void looked() override {
      if (++looks_ == 1) board_.failure = failure_;
    }

   private:
    fake::Board& board_;
    const world::Failure failure_;
    int looks_ = 0;
  } publisher(world_->board, theirs);
  parts(0).membership.on_look = &publisher;
  EXPECT_EQ(finish_failed(op),
            "rank 0: op 1: peer 1: peer lost: reported by rank 1 in collective 7 (caused by peer "
            "1: system error: out of luck)");
  parts(0).membership.on_look = nullptr;
}

TEST_F(CommunicatorTest, AnOpThatStartsAfterTheFailureDoesNotSucceed) {
  make(2, {.algorithm = "direct"});
  Op& early = barrier(0);
  process_.kick();  // its message is there
  world_->board.failure = world::Failure{Code::timeout, Rank{1}, Rank{0}, OpSeq{1}};
  EXPECT_EQ(finish_failed(barrier(1)),
            "rank 1: op 1: peer 1: timeout: reported by rank 0 in collective 1");
  finish_failed(early);
}

TEST_F(CommunicatorTest, AReporterThatCannotBeIsNotNamed) {
  make(2, {.algorithm = "direct"});
  world_->board.failure = world::Failure{Code::peer_lost, kNobody, kNobody, OpSeq{}};
  EXPECT_EQ(finish_failed(barrier(1)),
            "rank 1: op 1: peer lost: the ranks' common memory was overwritten");
}

TEST_F(CommunicatorTest, QueuedOpsEndWithTheFailure) {
  make(2, {.op_timeout = milliseconds(5)});
  std::vector<Op*> ops;
  for (int i = 0; i < 3; ++i) ops.push_back(&barrier(0));
  EXPECT_TRUE(process_.wait(*ops[2], kLong));
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string text = finish_failed(*ops[i]);
    const std::string begin = "rank 0: op " + std::to_string(i + 1) + ": peer 1: timeout: ";
    EXPECT_EQ(text.substr(0, begin.size()), begin);
  }
  EXPECT_EQ(rank(0).pending(), 0u);
}

TEST_F(CommunicatorTest, AFailingOpWaitsForItsDevice) {
  make(2, {.op_timeout = milliseconds(5), .algorithm = "ring"});
  parts(0).device.keeps = true;
  std::array<float, 2> in{}, out{};
  Call made = call<float>(Collective::all_reduce, 2, in.data(), out.data());
  made.request.op = ReduceOp::avg;
  Op& op = submit(0, {made});
  EXPECT_FALSE(process_.wait(op, milliseconds(100)));
  EXPECT_TRUE(op.failed());  // and yet not done: the device may be writing
  parts(0).device.end_one();
  EXPECT_NE(finish_failed(op).find("peer 1: timeout"), std::string::npos);
}

TEST_F(CommunicatorTest, AMessageOfAnotherSizeIsAMismatch) {
  make(2, {.algorithm = "ring"});
  std::array<std::int32_t, 8> values[2] = {};
  Op& more = submit(
      0, {call<std::int32_t>(Collective::all_reduce, 8, values[0].data(), values[0].data())});
  Op& less = submit(
      1, {call<std::int32_t>(Collective::all_reduce, 4, values[1].data(), values[1].data())});
  const std::string a = finish_failed(more), b = finish_failed(less);
  EXPECT_NE(a.find("mismatch"), std::string::npos) << a;
  EXPECT_NE(b.find("mismatch"), std::string::npos) << b;
}

// ---- abort -------------------------------------------------------------------------------------

TEST_F(CommunicatorTest, AbortEndsAllThatIsPendingOnAllRanks) {
  make(3);
  Op& first = barrier(0);
  Op& queued = barrier(0);
  Op& other = barrier(1);
  EXPECT_FALSE(process_.wait(first, milliseconds(1)));
  rank(0).abort("by the test");
  rank(0).abort("again");
  process_.kick();
  EXPECT_EQ(finish_failed(first), "rank 0: op 1: peer 0: aborted: by the test");
  EXPECT_EQ(finish_failed(queued), "rank 0: op 2: peer 0: aborted: by the test");
  EXPECT_EQ(finish_failed(other), "rank 1: op 1: peer 0: aborted: reported by rank 0");
  process_.kick();
  const std::vector<Call> next{call<std::int32_t>(Collective::barrier, 0, nullptr, nullptr)};
  EXPECT_EQ(refusal(2, next), "peer 0: aborted: reported by rank 0");
}

TEST_F(CommunicatorTest, AbortOfAnIdleCommunicatorIsNoticedByIdleRanks) {
  make(2);
  rank(1).abort("by the test");
  process_.kick();
  ASSERT_TRUE(rank(0).failure());
  EXPECT_EQ(rank(0).failure()->text(), "peer 1: aborted: reported by rank 1");
  EXPECT_EQ(rank(1).failure()->text(), "peer 1: aborted: by the test");
}

TEST_F(CommunicatorTest, AbortAfterAFailureChangesNothing) {
  make(2, {.op_timeout = milliseconds(5)});
  finish_failed(barrier(0));
  rank(0).abort("too late");
  process_.kick();
  EXPECT_EQ(rank(0).failure()->code(), Code::timeout);
}

TEST_F(CommunicatorTest, AnAbortInTheMailWhenTheCommunicatorGoesIsDelivered) {
  make(1);
  rank(0).abort("by the test");
  world_.reset();
}

}  // namespace
}  // namespace hocket::engine
