// SPDX-License-Identifier: Apache-2.0
// The prover on toy algorithms: right ones, and each way to be wrong. Faults in real algorithms are
// in algo/faults_test.cc.
#include "plan/prove.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/patterns.h"
#include "plan/prove_all.h"

namespace hocket {
namespace {

bool any(const Topology&) { return true; }
std::uint32_t one(const Topology&) { return 1; }

Range all(Buffer buffer) { return {0, 1, 0, 1, buffer}; }

// An all_reduce of two ranks: each sends its input and adds what arrives.
Exchange swap(const At& at, std::uint32_t) {
  Exchange x;
  x.to = x.from = Rank{1 - at.me.value};
  x.out = all(Buffer::input);
  x.in = all(Buffer::output);
  x.staged = true;
  x.fold = Fold::input;
  return x;
}
Shape one_round(const Topology&) { return {1, 1}; }
Shape two_rounds(const Topology&) { return {1, 2}; }
Shape three_rounds(const Topology&) { return {1, 3}; }

Algorithm toy(Exchange (*round)(const At&, std::uint32_t), Shape (*shape)(const Topology&)) {
  return {.name = "toy",
          .collective = Collective::all_reduce,
          .fits = any,
          .shape = shape,
          .round = round,
          .depth = one};
}

std::string error_of(const Algorithm& algorithm, bool in_place = false) {
  const Topology topology(1, 2);
  const Request request{.collective = algorithm.collective, .in_place = in_place};
  Result<Proof> proof = Prover().prove(make_plan(algorithm, topology, request));
  return proof ? "" : proof.error().message();
}

// a + b and b + a may differ in min and max of zeros and NaN, so they count as different bits.
TEST(Prover, HoldsTheOrderOfAddsAgainstOtherRanks) {
  EXPECT_EQ(error_of(toy(swap, one_round)),
            "all_reduce toy, 1 node x 2 ranks: rank 1 round 0: adds block 0 in another order than "
            "rank 0");
}

// Rank 0 adds, then sends the sum back.
Exchange there_and_back(const At& at, std::uint32_t k) {
  Exchange x;
  if (at.me.value == k) {
    x.from = Rank{1 - k};
    x.in = all(Buffer::output);
    x.fold = k == 0 ? Fold::input : Fold::none;
  } else {
    x.to = Rank{k};
    x.out = all(k == 0 ? Buffer::input : Buffer::output);
    x.staged = k == 0;
    x.after = k;
  }
  return x;
}

TEST(Prover, ProvesARightPlan) {
  Algorithm right = toy(there_and_back, two_rounds);
  right.depth = [](const Topology&) { return 2u; };
  for (const bool in_place : {false, true}) EXPECT_EQ(error_of(right, in_place), "");
  const Topology topology(1, 2);
  Plan plan = make_plan(right, topology, {});
  plan.channels = 2;
  plan.pieces = 5;
  Result<Proof> proof = Prover().prove(plan);
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof.value().exchanges, 20u);
  EXPECT_EQ(proof.value().messages, 10u);
  EXPECT_EQ(proof.value().entries, 0u);
  EXPECT_FALSE(proof.value().uses_scratch);
}

TEST(Prover, NamesRankAndTopologyInTheError) {
  const Topology topology(1, 2);
  const Algorithm wrong = toy(there_and_back, one_round);
  Result<Proof> proof = Prover().prove(make_plan(wrong, topology, {}));
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().code(), Code::invalid_argument);
  EXPECT_EQ(proof.error().rank(), Rank{1});
}

TEST(Prover, ChecksDepth) {
  EXPECT_EQ(error_of(toy(there_and_back, two_rounds)),
            "all_reduce toy, 1 node x 2 ranks: rank 0 round 0: has a depth of 2");
}

TEST(Prover, MissesAResult) {
  EXPECT_EQ(error_of(toy(there_and_back, one_round)),
            "all_reduce toy, 1 node x 2 ranks: rank 1 round 0: ends without block 0");
}

TEST(Prover, MissesAnOperand) {
  constexpr auto round = [](const At& at, std::uint32_t k) {
    Exchange x = there_and_back(at, k);
    if (k == 0) x.fold = Fold::none;
    return x;
  };
  EXPECT_EQ(error_of(toy(round, two_rounds)),
            "all_reduce toy, 1 node x 2 ranks: rank 0 round 0: leaves a wrong result in block 0");
}

TEST(Prover, FindsTwoWhoWaitForEachOther) {
  constexpr auto round = [](const At& at, std::uint32_t k) {
    Exchange x = swap(at, 0);
    if (k == 0) x.to = kNobody;
    if (k == 1) {
      x.from = kNobody;
      x.fold = Fold::none;
      x.after = 1;
    }
    return x;
  };
  EXPECT_EQ(error_of(toy(round, two_rounds)),
            "all_reduce toy, 1 node x 2 ranks: rank 0 round 0: waits for rank 1, which does not "
            "send");
}

TEST(Prover, FindsAMessageThatNobodyTakes) {
  constexpr auto round = [](const At& at, std::uint32_t k) {
    if (k < 2) return there_and_back(at, k);
    Exchange x;
    if (at.me.value == 0) {
      x.to = Rank{1};
      x.staged = true;
    }
    return x;
  };
  EXPECT_EQ(error_of(toy(round, three_rounds)),
            "all_reduce toy, 1 node x 2 ranks: rank 0 round 2: sends to rank 1, which does not "
            "take it");
}

TEST(Prover, FindsRoundsInWhichNobodyDoesAnything) {
  constexpr auto round = [](const At& at, std::uint32_t k) {
    return k < 2 ? there_and_back(at, k) : Exchange{};
  };
  EXPECT_EQ(error_of(toy(round, three_rounds)),
            "all_reduce toy, 1 node x 2 ranks: rank 0 round 2: nobody does anything");
}

// Each sends its output before it has added: right with one timing, wrong with another.
TEST(Prover, FindsASendOfWhatMayNotBeComplete) {
  constexpr auto round = [](const At& at, std::uint32_t k) {
    Exchange x = there_and_back(at, k);
    x.after = 0;
    return x;
  };
  EXPECT_EQ(error_of(toy(round, two_rounds)),
            "all_reduce toy, 1 node x 2 ranks: rank 0 round 1: sends block 0 before it is sure to "
            "be complete");
}

// The first message lands in the output that its receiver is about to fill by itself.
TEST(Prover, FindsALandingThatRacesACopy) {
  constexpr auto round = [](const At& at, std::uint32_t k) {
    Exchange x;
    if (k == 0) {
      x.to = x.from = at.me;
      x.out = all(Buffer::input);
      x.in = all(Buffer::output);
      return x;
    }
    if (at.me.value == 0) {
      x.to = Rank{1};
      x.out = all(Buffer::input);
    } else {
      x.from = Rank{0};
      x.in = all(Buffer::output);
    }
    return x;
  };
  EXPECT_EQ(error_of(toy(round, two_rounds)),
            "all_reduce toy, 1 node x 2 ranks: rank 0 round 1: lands in block 0 of rank 1, which "
            "may be in use");
}

// Rank 0 cannot know whether its first message has left the output that the second one overwrites.
TEST(Prover, FindsAWriteToWhatMayStillBeSent) {
  constexpr auto round = [](const At& at, std::uint32_t k) {
    Exchange x;
    if (k == 0) {
      x.to = x.from = at.me;
      x.out = all(Buffer::input);
      x.in = all(Buffer::output);
    } else if (at.me.value == k - 1) {
      x.to = Rank{2 - k};
      x.out = all(k == 1 ? Buffer::output : Buffer::input);
      x.staged = true;
      x.after = k == 1 ? 1 : 0;
    } else {
      x.from = Rank{k - 1};
      x.in = all(Buffer::output);
    }
    return x;
  };
  EXPECT_EQ(error_of(toy(round, three_rounds)),
            "all_reduce toy, 1 node x 2 ranks: rank 0 round 2: overwrites block 0, which may still "
            "be on its way");
}

TEST(Prover, RefusesWorldsThatItCannotHold) {
  const Topology topology(1, 65);
  Result<Proof> proof = Prover().prove(make_plan(toy(swap, one_round), topology, {}));
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().message(), "too large to be proven: 1 node x 65 ranks");
}

TEST(Prover, ProvesEveryPattern) {
  Prover prover;
  for (std::size_t i = 1; i < kPatterns; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    const Expansion& canonical = *expansion(pattern);
    const Algorithm row{.name = name_of(pattern),
                        .collective = canonical.collective,
                        .fits = any,
                        .shape = canonical.shape,
                        .round = canonical.round,
                        .depth = one,
                        .scratch = true,
                        .fold_order = canonical.fold_order,
                        .pattern = pattern};
    for (std::uint32_t world = 1; world <= 12; ++world) {
      const Topology topology(1, world);
      for (const bool in_place : {false, pattern != Pattern::exchange_blocks}) {
        const Request request{.collective = row.collective, .in_place = in_place};
        Result<Proof> proof = prover.prove(make_plan(row, topology, request));
        EXPECT_TRUE(proof) << proof.error().message();
      }
    }
  }
  EXPECT_EQ(expansion(Pattern::none), nullptr);
}

TEST(ProveAll, HasEveryFactorisationAndUnevenTopologies) {
  const std::vector<Topology> all_of_4 = topologies_to_prove(4);
  std::vector<std::string> even;
  std::size_t uneven = 0;
  for (const Topology& topology : all_of_4) {
    if (topology.uniform())
      even.push_back(topology.text());
    else
      ++uneven;
    EXPECT_LE(topology.world(), 4u);
  }
  const std::vector<std::string> expected = {
      "1 node x 1 rank",  "2 nodes x 1 rank", "1 node x 2 ranks",  "3 nodes x 1 rank",
      "1 node x 3 ranks", "4 nodes x 1 rank", "2 nodes x 2 ranks", "1 node x 4 ranks"};
  EXPECT_EQ(even, expected);
  EXPECT_EQ(uneven, 200u);
  EXPECT_EQ(topologies_to_prove(2).size(), 3u);
  EXPECT_EQ(topologies_to_prove(64).size(), 480u);
}

TEST(ProveAll, MultipliesItsLists) {
  Algorithm row = toy(swap, two_rounds);
  ProofTally tally = plans_to_prove(row, Topology(1, 3));
  EXPECT_EQ(tally.plans, 4u * 3 * 2);
  EXPECT_EQ(tally.exchanges, 3u * 2 * (4 * (1 + 2 + 3)) * 2);
  row.in_place = false;
  row.collective = Collective::broadcast;
  tally = plans_to_prove(row, Topology(1, 20));
  EXPECT_EQ(tally.plans, 20u * 2);
  EXPECT_EQ(tally.exchanges, 20u * 2 * (1 + 3) * 20);
  row.name = "two_level(x,y)";
  EXPECT_EQ(plans_to_prove(row, Topology(1, 20)).plans, 0u);
  EXPECT_EQ(plans_to_prove(row, Topology(4, 5)).plans, 20u * 2);
}

TEST(ProveAll, HoldsFitsAgainstWhatIsPromised) {
  Algorithm row = toy(there_and_back, two_rounds);
  Prover prover;
  row.fits = [](const Topology&) { return false; };
  Result<ProofTally> tally = prove_on(prover, row, Topology(1, 2));
  ASSERT_FALSE(tally);
  EXPECT_EQ(tally.error().message(), "all_reduce toy does not fit 1 node x 2 ranks");
  row.name = "two_level(x,y)";
  row.fits = any;
  tally = prove_on(prover, row, Topology(1, 2));
  ASSERT_FALSE(tally);
  EXPECT_EQ(tally.error().message(), "all_reduce two_level(x,y) fits 1 node x 2 ranks");
}

}  // namespace
}  // namespace hocket
