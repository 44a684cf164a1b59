// SPDX-License-Identifier: Apache-2.0
// Every way in which arguments can be wrong, and the edges at which they are still right.
#include "api/call.h"

#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <string>

namespace hocket::api {
namespace {

constexpr std::uint32_t kWorld = 4;
constexpr Rank kMe{2};

std::array<std::byte, 4096> memory;
std::byte* at(std::size_t offset) { return memory.data() + offset; }

/// float32 all over, ten elements unless said otherwise.
Arguments arguments(int collective, const void* input, void* output, std::size_t count = 10) {
  return {collective, input, output, count, HOCKET_FLOAT32, HOCKET_SUM, 1, false};
}

std::string refusal(const Arguments& given, Rank me = kMe, std::uint32_t world = kWorld) {
  const Result<engine::Call> call = make_call(given, me, world);
  if (call) return "none";
  EXPECT_EQ(call.error().code(), Code::invalid_argument);
  return call.error().message();
}

/// 0 or 1; 2 when the call is refused.
int in_place(const Arguments& given, Rank me = kMe) {
  const Result<engine::Call> call = make_call(given, me, kWorld);
  return call ? (call->request.in_place ? 1 : 0) : 2;
}

TEST(Call, CarriesWhatWasGiven) {
  const Arguments given{HOCKET_REDUCE, at(0), at(1000), 17, HOCKET_INT64, HOCKET_MAX, 3, false};
  const Result<engine::Call> call = make_call(given, Rank{3}, kWorld);
  ASSERT_TRUE(call);
  Request expected;
  expected.collective = Collective::reduce;
  expected.type = DataType::int64;
  expected.op = ReduceOp::max;
  expected.count = 17;
  expected.root = Rank{3};
  EXPECT_EQ(call->request, expected);
  EXPECT_EQ(call->input, at(0));
  EXPECT_EQ(call->output, at(1000));
  EXPECT_EQ(call->algorithm, nullptr);
}

TEST(Call, EnumsOfCAreThoseOfTheEngine) {
  for (int i = 0; i < static_cast<int>(kCollectives); ++i)
    for (int t = 0; t < static_cast<int>(kDataTypes); ++t)
      for (int o = 0; o < static_cast<int>(kReduceOps); ++o) {
        Arguments given = arguments(i, nullptr, nullptr);
        given.type = t;
        given.op = o;
        const Result<Request> request = make_request(given, kWorld);
        ASSERT_TRUE(request);
        EXPECT_EQ(static_cast<int>(request->collective), i);
        EXPECT_EQ(static_cast<int>(request->type), t);
        EXPECT_EQ(static_cast<int>(request->op), o);
      }
  EXPECT_EQ(HOCKET_SEND_RECV + 1, static_cast<int>(kCollectives));
  EXPECT_EQ(HOCKET_UINT8 + 1, static_cast<int>(kDataTypes));
  EXPECT_EQ(HOCKET_AVG + 1, static_cast<int>(kReduceOps));
  EXPECT_STREQ(name_of(static_cast<DataType>(HOCKET_BFLOAT16)), "bfloat16");
  EXPECT_STREQ(name_of(static_cast<ReduceOp>(HOCKET_MIN)), "min");
  EXPECT_STREQ(name_of(static_cast<Collective>(HOCKET_ALLTOALL)), "alltoall");
}

TEST(Call, EnumsOutOfRangeAreNamedWithTheirValue) {
  Arguments given = arguments(HOCKET_ALL_REDUCE, at(0), at(1000));
  for (const int value : {7, 8, 255, 256, INT_MAX}) {
    given.type = value;
    EXPECT_EQ(refusal(given),
              "all_reduce: type " + std::to_string(value) + " is none of hocket_type");
  }
  given.type = HOCKET_FLOAT32;
  for (const int value : {5, 6, 256, INT_MAX}) {
    given.op = value;
    EXPECT_EQ(refusal(given), "all_reduce: op " + std::to_string(value) + " is none of hocket_op");
  }
  given.op = HOCKET_SUM;
  for (const int value : {8, 256, INT_MAX}) {
    given.collective = value;
    EXPECT_EQ(refusal(given),
              "collective " + std::to_string(value) + " is none of hocket_collective");
  }
}

TEST(Call, NegativeEnumsAreOutOfRange) {
  Arguments given = arguments(HOCKET_ALL_REDUCE, at(0), at(1000));
  given.type = -1;
  EXPECT_NE(refusal(given).find("is none of hocket_type"), std::string::npos);
  given.type = HOCKET_FLOAT32;
  given.op = INT_MIN;
  EXPECT_NE(refusal(given).find("is none of hocket_op"), std::string::npos);
  given.op = HOCKET_SUM;
  given.collective = -1;
  EXPECT_NE(refusal(given).find("is none of hocket_collective"), std::string::npos);
}

TEST(Call, RootsAndPeersAreRanks) {
  struct Case {
    hocket_collective collective;
    bool sends;
    const char* words;
  };
  for (const auto& [collective, sends, words] :
       {Case{HOCKET_BROADCAST, false, "broadcast: root "},
        Case{HOCKET_REDUCE, false, "reduce: root "}, Case{HOCKET_SEND_RECV, true, "send: peer "},
        Case{HOCKET_SEND_RECV, false, "recv: peer "}}) {
    Arguments given = arguments(collective, at(0), at(1000));
    given.sends = sends;
    for (const int root : {-1, 4, 5, INT_MIN, INT_MAX}) {
      given.root = root;
      EXPECT_EQ(refusal(given), words + std::to_string(root) + " in a world of 4");
    }
    for (const int root : {0, 1, 3}) {
      given.root = root;
      EXPECT_EQ(refusal(given), "none");
    }
  }
}

TEST(Call, CountsThatOverflowAreRefused) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  // The buffers of all ranks together count, also where each has but a part of them.
  for (const hocket_collective collective :
       {HOCKET_ALL_REDUCE, HOCKET_ALL_GATHER, HOCKET_REDUCE_SCATTER, HOCKET_ALLTOALL}) {
    Arguments given = arguments(collective, nullptr, nullptr);
    for (const std::uint64_t count : {kMost / 16 + 1, kMost, UINT64_MAX, UINT64_MAX / 4 + 1}) {
      given.count = count;
      EXPECT_EQ(refusal(given), std::string(name_of(static_cast<Collective>(collective))) +
                                    ": count " + std::to_string(count) +
                                    " is beyond what memory can hold");
    }
    given.count = kMost / 16;  // goes on to the next check
    EXPECT_NE(refusal(given).find("is null"), std::string::npos);
  }
  Arguments bytes = arguments(HOCKET_ALL_REDUCE, nullptr, nullptr, kMost / 4);
  bytes.type = HOCKET_UINT8;
  EXPECT_NE(refusal(bytes).find("is null"), std::string::npos);
  bytes.count += 1;
  EXPECT_NE(refusal(bytes).find("beyond what memory can hold"), std::string::npos);
  bytes.sends = true;
  bytes.collective = HOCKET_SEND_RECV;
  EXPECT_NE(refusal(bytes).find("send: count "), std::string::npos);
}

TEST(Call, WhatExplainAsksIsBoundedToo) {
  const Arguments given = arguments(HOCKET_ALLTOALL, nullptr, nullptr, UINT64_MAX / 2);
  const Result<Request> request = make_request(given, kWorld);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().message(),
            "alltoall: count 9223372036854775807 is beyond what memory "
            "can hold");
}

TEST(Call, MemoryThatIsReadOrWrittenIsNotNull) {
  struct Case {
    hocket_collective collective;
    bool sends, reads, writes;
  };
  constexpr Case kCases[] = {
      {HOCKET_ALL_REDUCE, false, true, true},     {HOCKET_ALL_GATHER, false, true, true},
      {HOCKET_REDUCE_SCATTER, false, true, true}, {HOCKET_ALLTOALL, false, true, true},
      {HOCKET_SEND_RECV, true, true, false},      {HOCKET_SEND_RECV, false, false, true},
      {HOCKET_BARRIER, false, false, false}};
  for (const auto& [collective, sends, reads, writes] : kCases) {
    Arguments given = arguments(collective, at(0), at(2048));
    given.sends = sends;
    EXPECT_EQ(refusal(given), "none");
    given.input = nullptr;
    EXPECT_EQ(refusal(given).find("input is null") != std::string::npos, reads);
    given.input = at(0);
    given.output = nullptr;
    EXPECT_EQ(refusal(given).find("output is null") != std::string::npos, writes);
    given.input = nullptr;
    given.count = 0;
    EXPECT_EQ(refusal(given), "none");
  }
}

TEST(Call, OnlyTheRootNeedsItsOneBuffer) {
  const Rank root{1};
  EXPECT_EQ(refusal(arguments(HOCKET_BROADCAST, nullptr, at(0))), "none");
  EXPECT_EQ(refusal(arguments(HOCKET_BROADCAST, nullptr, at(0)), root), "broadcast: input is null");
  EXPECT_EQ(refusal(arguments(HOCKET_BROADCAST, at(0), nullptr)), "broadcast: output is null");
  EXPECT_EQ(refusal(arguments(HOCKET_REDUCE, at(0), nullptr)), "none");
  EXPECT_EQ(refusal(arguments(HOCKET_REDUCE, at(0), nullptr), root), "reduce: output is null");
  EXPECT_EQ(refusal(arguments(HOCKET_REDUCE, nullptr, at(0))), "reduce: input is null");
}

TEST(Call, InPlaceIsSameMemoryForMost) {
  for (const hocket_collective collective : {HOCKET_ALL_REDUCE, HOCKET_BROADCAST, HOCKET_REDUCE}) {
    EXPECT_EQ(in_place(arguments(collective, at(0), at(0)), Rank{1}), 1);
    EXPECT_EQ(in_place(arguments(collective, at(0), at(1000)), Rank{1}), 0);
  }
  // Who is not the root has one buffer, and nothing can overlap with it.
  EXPECT_EQ(in_place(arguments(HOCKET_BROADCAST, at(4), at(0))), 0);
  EXPECT_EQ(in_place(arguments(HOCKET_REDUCE, at(4), at(0))), 0);
}

TEST(Call, InPlaceIsOnesOwnBlockWhereBlocksAreOfRanks) {
  // Ten floats a block: that of rank 2 begins at byte 80.
  EXPECT_EQ(in_place(arguments(HOCKET_ALL_GATHER, at(80), at(0))), 1);
  EXPECT_EQ(in_place(arguments(HOCKET_ALL_GATHER, at(0), at(0)), Rank{0}), 1);
  EXPECT_EQ(in_place(arguments(HOCKET_ALL_GATHER, at(0), at(0))), 2);
  EXPECT_EQ(in_place(arguments(HOCKET_ALL_GATHER, at(40), at(0))), 2);
  EXPECT_EQ(in_place(arguments(HOCKET_REDUCE_SCATTER, at(0), at(80))), 1);
  EXPECT_EQ(in_place(arguments(HOCKET_REDUCE_SCATTER, at(0), at(0)), Rank{0}), 1);
  EXPECT_EQ(in_place(arguments(HOCKET_REDUCE_SCATTER, at(0), at(0))), 2);
  EXPECT_EQ(in_place(arguments(HOCKET_REDUCE_SCATTER, at(0), at(120))), 2);
}

TEST(Call, AlltoallIsNeverInPlace) {
  EXPECT_EQ(in_place(arguments(HOCKET_ALLTOALL, at(0), at(0))), 2);
  EXPECT_EQ(in_place(arguments(HOCKET_ALLTOALL, at(0), at(160))), 0);
}

TEST(Call, OverlapAtEitherEndIsRefused) {
  struct Case {
    hocket_collective collective;
    std::size_t input, output;  // bytes
  };
  for (const auto& [collective, input, output] :
       {Case{HOCKET_ALL_REDUCE, 40, 40}, Case{HOCKET_ALL_GATHER, 40, 160},
        Case{HOCKET_REDUCE_SCATTER, 160, 40}, Case{HOCKET_ALLTOALL, 160, 160}}) {
    SCOPED_TRACE(collective);
    constexpr std::size_t kBase = 1024;
    const auto placed = [&](std::size_t output_at) {
      return in_place(arguments(collective, at(kBase), at(output_at)));
    };
    EXPECT_EQ(placed(kBase - output), 0);  // adjacent, before and behind
    EXPECT_EQ(placed(kBase + input), 0);
    EXPECT_EQ(placed(kBase - output + 1), 2);  // by one byte
    EXPECT_EQ(placed(kBase + input - 1), 2);
    EXPECT_EQ(placed(kBase + 4), 2);  // by all but an element
    EXPECT_EQ(placed(kBase - 4), 2);
  }
}

TEST(Call, OverlapIsToldWithItsSizes) {
  EXPECT_EQ(refusal(arguments(HOCKET_ALL_GATHER, at(100), at(0))),
            "all_gather: input and output overlap, and not as in place: input of 40 bytes, output "
            "of 160 bytes 100 bytes before it");
  EXPECT_EQ(refusal(arguments(HOCKET_ALL_REDUCE, at(0), at(4))),
            "all_reduce: input and output overlap, and not as in place: input of 40 bytes, output "
            "of 40 bytes 4 bytes after it");
  EXPECT_EQ(refusal(arguments(HOCKET_ALLTOALL, at(0), at(0))),
            "alltoall: input and output overlap, and it is never in place: input of 160 bytes, "
            "output of 160 bytes at the same address");
}

TEST(Call, ZeroElementsOverlapWithNothing) {
  EXPECT_EQ(refusal(arguments(HOCKET_ALL_REDUCE, at(0), at(4), 0)), "none");
  EXPECT_EQ(refusal(arguments(HOCKET_ALLTOALL, at(0), at(0), 0)), "none");
  EXPECT_EQ(refusal(arguments(HOCKET_ALL_GATHER, nullptr, nullptr, 0)), "none");
}

TEST(Call, AWorldOfOneIsInPlaceLikeAnyOther) {
  for (const hocket_collective collective :
       {HOCKET_ALL_REDUCE, HOCKET_ALL_GATHER, HOCKET_REDUCE_SCATTER, HOCKET_BROADCAST}) {
    Arguments given = arguments(collective, at(0), at(0));
    given.root = 0;
    const Result<engine::Call> call = make_call(given, Rank{0}, 1);
    ASSERT_TRUE(call);
    EXPECT_TRUE(call->request.in_place);
  }
}

}  // namespace
}  // namespace hocket::api
