// SPDX-License-Identifier: Apache-2.0
// The values of base that are a few lines each: ids, time, bytes, types, the generator.
#include <gtest/gtest.h>

#include <string_view>
#include <type_traits>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/prng.h"
#include "base/time.h"
#include "base/types.h"

namespace hocket {
namespace {

static_assert(sizeof(Rank) == 4 && sizeof(OpSeq) == 8 && sizeof(ChannelId) == 2);
static_assert(std::is_trivially_copyable_v<Rank>);
static_assert(!std::is_convertible_v<std::uint32_t, Rank> && !std::is_convertible_v<Rank, NodeId>);
static_assert(!std::is_constructible_v<NodeId, Rank>);

TEST(Ids, CompareByValue) {
  EXPECT_EQ(Rank{}, Rank{0});
  EXPECT_LT(Rank{2}, Rank{3});
  EXPECT_LT(Rank{(1u << 24) - 1}, kNobody);
  EXPECT_EQ(kNobody.value, 4'294'967'295u);
}

TEST(Time, AddingSaturatesAtNever) {
  EXPECT_EQ(Instant{5} + nanoseconds(3), Instant{8});
  EXPECT_EQ(Instant{5} + nanoseconds(-3), Instant{2});
  EXPECT_EQ(Instant{0} + kForever, kNever);
  EXPECT_EQ(Instant{1} + kForever, kNever);
  EXPECT_EQ(Instant{1} + Duration{INT64_MAX - 1}, kNever);
  EXPECT_EQ(Instant{1} + Duration{INT64_MAX - 2}, Instant{INT64_MAX - 1});
  EXPECT_EQ(kNever + nanoseconds(1), kNever);
  EXPECT_EQ(kNever + kForever, kNever);
  EXPECT_EQ(Instant{8} - Instant{5}, nanoseconds(3));
}

TEST(Time, UnitsSaturateAtForever) {
  EXPECT_EQ(microseconds(7).ns, 7'000);
  EXPECT_EQ(milliseconds(7).ns, 7'000'000);
  EXPECT_EQ(seconds(7).ns, 7'000'000'000);
  EXPECT_EQ(milliseconds(-1).ns, -1'000'000);
  EXPECT_EQ(seconds(INT64_MAX), kForever);
  EXPECT_EQ(milliseconds(9'223'372'036'854), Duration{9'223'372'036'854'000'000});
  EXPECT_EQ(milliseconds(9'223'372'036'855), kForever);
}

// Published values of 64-bit FNV-1a.
TEST(Hash, IsFnv) {
  const auto of = [](std::string_view text) {
    Hash hash;
    hash.add_all(text);
    return hash.value();
  };
  EXPECT_EQ(of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(of("foobar"), 0x85944171f73967e8u);
}

TEST(Bytes, AViewOfConstantBytesIsMadeFromAMutableOne) {
  std::byte three[3] = {};
  const Bytes bytes{three, 3};
  const ConstBytes view = bytes;
  EXPECT_EQ(view.data, three);
  EXPECT_EQ(view.size, 3u);
  EXPECT_EQ(ConstBytes().data, nullptr);
  EXPECT_EQ(ConstBytes().size, 0u);
}

TEST(Types, SizesAndNames) {
  constexpr std::uint32_t kSizes[kDataTypes] = {4, 8, 2, 2, 4, 8, 1};
  const char* const kNames[kDataTypes] = {"float32", "float64", "bfloat16", "float16",
                                          "int32",   "int64",   "uint8"};
  for (std::size_t i = 0; i < kDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(size_of(type), kSizes[i]);
    EXPECT_STREQ(name_of(type), kNames[i]);
    EXPECT_EQ(is_float(type), i < 4);
  }
  EXPECT_STREQ(name_of(ReduceOp::avg), "avg");
  EXPECT_STREQ(name_of(Collective::send_recv), "send_recv");
}

/// Of the paper's reference program, seed 1234567.
TEST(Prng, GivesTheKnownNumbers) {
  Prng random(1'234'567);
  EXPECT_EQ(random.next(), 6'457'827'717'110'365'317u);
  EXPECT_EQ(random.next(), 3'203'168'211'198'807'973u);
  EXPECT_EQ(random.next(), 9'817'491'932'198'370'423u);
  EXPECT_EQ(random.next(), 4'593'380'528'125'082'431u);
  EXPECT_EQ(random.next(), 16'408'922'859'458'223'821u);
  EXPECT_EQ(Prng(0).next(), 16'294'208'416'658'607'535u);
}

TEST(Prng, BelowCoversItsRange) {
  Prng random(1);
  int seen[7] = {};
  for (int i = 0; i < 7'000; ++i) ++seen[random.below(7)];
  for (const int count : seen) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1'150);
  }
  EXPECT_EQ(random.below(1), 0u);
}

}  // namespace
}  // namespace hocket
