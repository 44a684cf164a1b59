// SPDX-License-Identifier: Apache-2.0
// Which sends and receives meet, and in which order.
#include "engine/stream/transfers.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace hocket::engine::stream {
namespace {

using world::Direction;
using world::Transfers;

class StreamTransfers : public ::testing::Test {
 protected:
  /// A message of `count` int32 at memory_[count].
  Call message(bool sends, std::uint32_t peer, std::uint64_t count) {
    Call call;
    call.request.collective = Collective::send_recv;
    call.request.type = DataType::int32;
    call.request.count = count;
    call.request.root = Rank{peer};
    call.request.sends = sends;
    (sends ? const_cast<std::byte*&>(call.input) : call.output) = memory_.data() + count;
    return call;
  }
  Call send(std::uint32_t peer, std::uint64_t count) { return message(true, peer, count); }
  Call receive(std::uint32_t peer, std::uint64_t count) { return message(false, peer, count); }

  static Transfers gathered(const std::vector<Call>& calls, std::uint32_t me = 1) {
    Result<Transfers> transfers = gather(calls, Rank{me});
    EXPECT_TRUE(transfers) << transfers.error().text();
    return *transfers;
  }
  static void expect_refused(const std::vector<Call>& calls, Code code, const char* text) {
    const Result<Transfers> transfers = gather(calls, Rank{1});
    ASSERT_FALSE(transfers);
    EXPECT_EQ(transfers.error().code(), code);
    EXPECT_EQ(transfers.error().message(), text);
  }

  std::array<std::byte, 1000> memory_ = {};
};

TEST_F(StreamTransfers, GoByDirectionInTheOrderOfTheCalls) {
  const Transfers all =
      gathered({send(2, 10), receive(0, 20), send(2, 30), receive(2, 40), send(0, 50)});
  ASSERT_EQ(all.count, 4u);
  EXPECT_EQ(all.directions[0], (Direction{.peer = 0, .sends = true, .first = 0, .count = 1}));
  EXPECT_EQ(all.directions[1], (Direction{.peer = 0, .sends = false, .first = 1, .count = 1}));
  EXPECT_EQ(all.directions[2], (Direction{.peer = 2, .sends = true, .first = 2, .count = 2}));
  EXPECT_EQ(all.directions[3], (Direction{.peer = 2, .sends = false, .first = 4, .count = 1}));
  const std::uint64_t counts[] = {50, 20, 10, 30, 40};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(all.all[i].bytes, 4 * counts[i]);
    EXPECT_EQ(all.all[i].memory, memory_.data() + counts[i]);
  }
}

TEST_F(StreamTransfers, BothEndsHaveASignatureThatTellsCountAndType) {
  const auto signature = [](const Call& call) { return gathered({call}).all[0].signature; };
  Call other = receive(0, 10);
  other.request.type = DataType::float32;
  EXPECT_EQ(signature(send(0, 10)), signature(receive(2, 10)));
  EXPECT_NE(signature(send(0, 10)), signature(receive(0, 11)));
  EXPECT_NE(signature(send(0, 10)), signature(other));
}

TEST_F(StreamTransfers, ToOneselfGoFromSendToReceive) {
  const Transfers all = gathered({send(1, 10), send(1, 20), receive(1, 10), receive(1, 20)});
  ASSERT_EQ(all.count, 1u);
  EXPECT_EQ(all.directions[0], (Direction{.peer = 1, .sends = true, .first = 0, .count = 4}));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all.all[i].bytes, i < 2 ? 40u : 80u);
}

TEST_F(StreamTransfers, ToOneselfWithoutItsOtherEndAreRefused) {
  const char* const unreceived =
      "send of 10 int32 to oneself without a receive of as many in the same group";
  expect_refused({send(1, 10)}, Code::invalid_argument, unreceived);
  expect_refused({send(1, 10), receive(1, 11)}, Code::invalid_argument, unreceived);
  expect_refused({send(1, 10), receive(0, 10), receive(1, 10), receive(1, 20)},
                 Code::invalid_argument,
                 "recv of 20 int32 from oneself without a send in the same group");
}

TEST_F(StreamTransfers, MoreThanALaunchTakesAreRefused) {
  std::vector<Call> calls(Transfers::kMost, send(0, 10));
  EXPECT_EQ(gathered(calls).directions[0].count, Transfers::kMost);
  calls.push_back(receive(2, 10));
  expect_refused(calls, Code::invalid_usage,
                 "on a stream: a group of 97 sends and receives of one communicator; it takes 96");
}

}  // namespace
}  // namespace hocket::engine::stream
