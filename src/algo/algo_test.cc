// SPDX-License-Identifier: Apache-2.0
// Every row of every table, whoever adds one: proven on small topologies here, on the full lists by
// `hocket prove`.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "algo/order.h"
#include "algo/table.h"
#include "base/prng.h"
#include "plan/prove_all.h"
#include "plan/slices.h"
#include "testing/cases.h"

namespace hocket::algo {
namespace {

TEST(Tables, NameEachAlgorithmOnce) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    std::set<std::string> names;
    for (const Algorithm& algorithm : algorithms(collective)) {
      EXPECT_EQ(algorithm.collective, collective);
      EXPECT_TRUE(names.insert(algorithm.name).second) << algorithm.name;
      EXPECT_EQ(find(collective, algorithm.name), &algorithm);
    }
    EXPECT_FALSE(names.empty());
    EXPECT_EQ(find(collective, "no such"), nullptr);
  }
}

TEST(Algorithms, AreProvenOnSmallTopologies) {
  const auto most = static_cast<std::uint32_t>(testing::cases(8));
  Prover prover;
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& algorithm : algorithms(static_cast<Collective>(c))) {
      ProofTally proven, wanted;
      for (const Topology& topology : topologies_to_prove(std::max(most, 6u))) {
        Result<ProofTally> tally = prove_on(prover, algorithm, topology);
        ASSERT_TRUE(tally) << tally.error().message();
        proven += tally.value();
        wanted += plans_to_prove(algorithm, topology);
      }
      EXPECT_EQ(proven.plans, wanted.plans) << algorithm.name;
      EXPECT_EQ(proven.exchanges, wanted.exchanges) << algorithm.name;
      EXPECT_EQ(proven.uses_scratch, algorithm.scratch) << algorithm.name;
    }
}

// The claim is not made where it could be.
TEST(Algorithms, WorkInPlaceUnlessTheyCannot) {
  Prover prover;
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& algorithm : algorithms(static_cast<Collective>(c))) {
      if (algorithm.in_place) continue;
      const Topology topology(2, 2);
      Request request{.collective = algorithm.collective, .in_place = true};
      EXPECT_FALSE(prover.prove(make_plan(algorithm, topology, request))) << algorithm.name;
    }
}

// What the prover says of blocks holds for bytes: the two ends of every message walk the same sizes
// inside their buffers, and a slice lands where the receiver looks for it.
class MessageEnds : public ::testing::Test {
 protected:
  struct Message {
    std::uint64_t lands, size;  // kStaged: anywhere
    bool operator==(const Message&) const = default;
  };
  static constexpr std::uint64_t kStaged = ~std::uint64_t{0};

  std::uint64_t bytes_of(Buffer buffer) const {
    const Collective c = plan_.request.collective;
    const bool one = (buffer == Buffer::input && c == Collective::all_gather) ||
                     (buffer == Buffer::output && c == Collective::reduce_scatter);
    return one ? plan_.total_bytes() / plan_.topology->world() : plan_.total_bytes();
  }
  void walk(std::uint32_t piece, const Exchange& x, bool sends, std::vector<Message>& messages) {
    const Range& range = sends ? x.out : x.in;
    const Piece cut(plan_, piece);
    const std::uint64_t moved = sends && !x.staged ? shift(cut, x.out, x.landing()) : 0;
    for (Slices s(cut, range); s.more(); s.next()) {
      EXPECT_LE(s.offset() + s.size(), bytes_of(range.buffer));
      if (x.fold != Fold::none && !sends) {
        const Buffer operand = static_cast<Buffer>(static_cast<int>(x.fold) - 1);
        EXPECT_LE(s.offset_in(operand) + s.size(), bytes_of(operand));
      }
      messages.push_back({sends && x.staged ? kStaged : s.offset() + moved, s.size()});
    }
  }
  // All that `from` sends to `to` on a channel, as seen by one end.
  std::vector<Message> link(Rank from, Rank to, bool sends) {
    std::vector<Message> messages;
    for (std::uint32_t piece = 0; piece < plan_.pieces; ++piece)
      for (std::uint32_t k = 0; k < plan_.shape.rounds; ++k) {
        const Exchange x = plan_.round(sends ? from : to, ChannelId{1}, k);
        if (sends ? x.to == to : x.from == from) walk(piece, x, sends, messages);
      }
    return messages;
  }
  void check(const Algorithm& algorithm, const Topology& topology, Prng& random) {
    Request request{.collective = algorithm.collective, .type = DataType::float16};
    request.root = Rank{static_cast<std::uint32_t>(random.below(topology.world()))};
    if (algorithm.collective != Collective::barrier) request.count = random.below(40);
    plan_ = make_plan(algorithm, topology, request);
    plan_.pieces = static_cast<std::uint32_t>(1 + random.below(3));
    plan_.slice_bytes = static_cast<std::uint32_t>(1 + random.below(30));
    for (std::uint32_t from = 0; from < topology.world(); ++from)
      for (std::uint32_t to = 0; to < topology.world(); ++to) {
        if (from == to) continue;
        std::vector<Message> sent = link(Rank{from}, Rank{to}, true);
        std::vector<Message> received = link(Rank{from}, Rank{to}, false);
        ASSERT_EQ(sent.size(), received.size());
        for (std::size_t i = 0; i < sent.size(); ++i)
          if (sent[i].lands == kStaged) received[i].lands = kStaged;
        EXPECT_EQ(sent, received) << algorithm.name << " " << from << " to " << to;
      }
  }

  Plan plan_;
};

TEST_F(MessageEnds, AgreeOnEveryByte) {
  Prng random(1);
  const Topology topologies[] = {Topology(2, 2), Topology(3, 2),
                                 Topology::make({{1, 3}, {1, 4}}).value(), Topology(2, 4)};
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& algorithm : algorithms(static_cast<Collective>(c))) {
      if (algorithm.collective == Collective::send_recv) continue;  // own request only
      for (int i = 0; i < testing::cases(10); ++i)
        for (const Topology& topology : topologies)
          if (algorithm.fits(topology)) check(algorithm, topology, random);
    }
}

TEST(Order, TurnsRanksWithinTheirNodes) {
  const Topology topology = Topology::make({{1, 3}, {1, 2}}).value();
  for (std::uint16_t channel = 0; channel < 5; ++channel) {
    const Order order({topology, {}, Rank{0}, ChannelId{channel}});
    for (std::uint32_t r = 0; r < 5; ++r) {
      const std::uint32_t position = order.position(Rank{r});
      EXPECT_EQ(position, r < 3 ? (r + channel) % 3 : 3 + (r - 3 + channel) % 2);
      EXPECT_EQ(order.rank(position), Rank{r});
    }
  }
}

}  // namespace
}  // namespace hocket::algo
