// SPDX-License-Identifier: Apache-2.0
#include "algo/select.h"

#include <gtest/gtest.h>

#include <string>

#include "algo/table.h"

namespace hocket::algo {
namespace {

Agreed agreed_on(std::uint32_t nodes, std::uint32_t ranks) {
  Agreed agreed;
  agreed.topology = std::make_shared<const Topology>(nodes, ranks);
  agreed.costs.message = 300'000;
  return agreed;
}

std::shared_ptr<const Tuning> tuned(Agreed agreed) {
  Result<std::shared_ptr<const Tuning>> tuning = Tuning::make(std::move(agreed));
  EXPECT_TRUE(tuning) << tuning.error().text();
  return *tuning;
}

Request all_reduce(std::uint64_t count) {
  Request request;
  request.count = count;
  return request;
}

Rule rule_of(const char* algorithm, std::optional<Collective> collective = {}) {
  Rule rule;
  rule.collective = collective;
  rule.algorithm = algorithm;
  rule.origin = "HOCKET_ALGO";
  return rule;
}

TEST(Select, TakesTheCheapest) {
  const auto tuning = tuned(agreed_on(4, 4));
  for (const std::uint64_t count : {16u, 16u << 10, 16u << 20}) {
    const Choice choice = *select(*tuning, all_reduce(count));
    EXPECT_EQ(choice.reason, Reason::cheapest);
    const Plan chosen = plan_of(choice, *tuning->agreed().topology, all_reduce(count));
    const Price price = hocket::price(chosen, tuning->agreed().costs);
    for (const Algorithm& algorithm : algorithms(Collective::all_reduce)) {
      const Plan plan = make_plan(algorithm, *tuning->agreed().topology, all_reduce(count));
      EXPECT_LE(price.time, hocket::price(plan, tuning->agreed().costs).time)
          << algorithm.name << " is cheaper than " << choice.algorithm->name << " for " << count;
    }
  }
}

TEST(Select, AnswersEveryRequestOnEveryTopology) {
  for (const auto& [nodes, ranks] : {std::pair{1u, 1u}, {1u, 8u}, {3u, 5u}, {16'384u, 8u}}) {
    const auto tuning = tuned(agreed_on(nodes, ranks));
    for (std::size_t i = 0; i < kCollectives; ++i)
      for (const std::uint64_t count : {0u, 1u, 1000u, 1u << 28}) {
        Request request = all_reduce(count);
        request.collective = static_cast<Collective>(i);
        const Result<Choice> choice = select(*tuning, request);
        ASSERT_TRUE(choice) << choice.error().text();
        EXPECT_EQ(choice.value().algorithm->collective, request.collective);
        EXPECT_TRUE(choice.value().algorithm->fits(*tuning->agreed().topology));
        EXPECT_LE(choice.value().channels, 4u);
        EXPECT_GE(choice.value().pieces, choice.value().channels);
      }
  }
}

TEST(Select, RanksThatAgreeChooseAlike) {
  const auto here = tuned(agreed_on(4, 8)), there = tuned(agreed_on(4, 8));
  for (std::uint64_t count = 1; count < 1u << 26; count = count * 3 + 1)
    EXPECT_EQ(*select(*here, all_reduce(count)), *select(*there, all_reduce(count))) << count;
}

TEST(Select, InPlaceOnlyWhatWorksInPlace) {
  const auto tuning = tuned(agreed_on(1, 8));
  Request request = all_reduce(8);
  request.collective = Collective::alltoall;
  request.in_place = true;
  const Result<Choice> choice = select(*tuning, request);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().text(),
            "unsupported: alltoall: no algorithm for 1 node x 8 ranks in place");
}

TEST(Select, ARuleGoesBeforeThePriceAndACallBeforeARule) {
  Agreed agreed = agreed_on(1, 8);
  agreed.rules = {rule_of("halving_doubling"), rule_of("ring", Collective::all_reduce)};
  const auto tuning = tuned(agreed);
  Choice choice = *select(*tuning, all_reduce(100));
  EXPECT_STREQ(choice.algorithm->name, "ring");
  EXPECT_EQ(choice.reason, Reason::rule);
  choice = *select(*tuning, all_reduce(100), find(Collective::all_reduce, "one_shot"));
  EXPECT_STREQ(choice.algorithm->name, "one_shot");
  EXPECT_EQ(choice.reason, Reason::call);
  Request request = all_reduce(100);
  request.collective = Collective::all_gather;
  EXPECT_STREQ(select(*tuning, request).value().algorithm->name, "halving_doubling");
  request.collective = Collective::broadcast;  // has none: by price
  EXPECT_EQ(select(*tuning, request).value().reason, Reason::cheapest);
}

TEST(Select, ARuleMayFixTheWay) {
  Agreed agreed = agreed_on(4, 8);
  agreed.rules = {rule_of("ring", Collective::all_reduce)};
  agreed.rules[0].channels = 2;
  agreed.rules[0].slice_bytes = 4096;
  const Choice choice = *select(*tuned(agreed), all_reduce(1 << 20));
  EXPECT_EQ(choice.channels, 2u);
  EXPECT_EQ(choice.pieces, 2u);
  EXPECT_EQ(choice.slice_bytes, 4096u);
}

std::string refused(Agreed agreed, const Rule& rule) {
  agreed.rules = {rule};
  const Result<std::shared_ptr<const Tuning>> tuning = Tuning::make(std::move(agreed));
  EXPECT_FALSE(tuning);
  return tuning ? "" : tuning.error().text();
}

TEST(Select, CutsForCachesWhatIsReadTwice) {
  Agreed agreed;
  agreed.topology = std::make_shared<const Topology>(1, 4);
  agreed.piece_bytes = 1000;
  const std::shared_ptr<const Tuning> tuning = std::move(Tuning::make(agreed)).value();
  agreed.piece_bytes = 0;
  const std::shared_ptr<const Tuning> whole = std::move(Tuning::make(agreed)).value();
  Request request;
  request.type = DataType::uint8;
  for (const std::uint64_t count : {0u, 1u, 1000u, 1001u, 8000u, 8001u, 1u << 20})
    for (const Algorithm& algorithm : algorithms(Collective::all_reduce)) {
      if (!algorithm.fits(*agreed.topology)) continue;
      request.count = count;
      const Choice uncut = std::move(select(*whole, request, &algorithm)).value();
      const Choice choice = std::move(select(*tuning, request, &algorithm)).value();
      EXPECT_EQ(choice.channels, uncut.channels);
      EXPECT_EQ(choice.pieces % choice.channels, 0u);
      EXPECT_GE(std::uint64_t{choice.pieces} * 1000, count);
      if (choice.pieces > uncut.pieces) {  // and not into more than it takes
        EXPECT_LT(std::uint64_t{choice.pieces - choice.channels} * 1000, count);
      }
    }
  request.collective = Collective::alltoall;
  EXPECT_EQ(std::move(select(*tuning, request)).value(),
            std::move(select(*whole, request)).value());
}

/// The names in the tables that fit, as messages list them.
std::string names(Collective collective, const Topology& topology) {
  std::string text;
  for (const Algorithm& algorithm : algorithms(collective))
    if (algorithm.fits(topology)) text += (text.empty() ? "" : ", ") + std::string(algorithm.name);
  return text;
}

TEST(Select, RefusesRulesThatCannotBe) {
  const Topology topology(1, 8);
  const std::string unknown = refused(agreed_on(1, 8), rule_of("magic"));
  EXPECT_EQ(unknown.find("invalid argument: HOCKET_ALGO: no collective has an algorithm 'magic'; "
                         "candidates: ring, halving_doubling, "),
            0u)
      << unknown;
  EXPECT_EQ(refused(agreed_on(1, 8), rule_of("chain", Collective::all_gather)),
            "invalid argument: HOCKET_ALGO: all_gather has no algorithm 'chain'; candidates: " +
                names(Collective::all_gather, topology));
  EXPECT_EQ(refused(agreed_on(1, 8), rule_of("two_level(ring,ring)", Collective::all_reduce)),
            "invalid argument: HOCKET_ALGO: all_reduce: algorithm 'two_level(ring,ring)' does not "
            "fit 1 node x 8 ranks; candidates: " +
                names(Collective::all_reduce, topology));
}

TEST(Select, RefusesACallsAlgorithmThatCannotServeIt) {
  const auto tuning = tuned(agreed_on(1, 4));
  const Result<Choice> foreign =
      select(*tuning, all_reduce(8), find(Collective::broadcast, "chain"));
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().text(),
            "invalid argument: all_reduce: algorithm 'chain' is an algorithm of broadcast; "
            "candidates: " +
                names(Collective::all_reduce, Topology(1, 4)));
  Request request = all_reduce(8);
  request.collective = Collective::alltoall;
  request.in_place = true;
  const Result<Choice> in_place = select(*tuning, request, find(Collective::alltoall, "direct"));
  ASSERT_FALSE(in_place);
  EXPECT_EQ(in_place.error().text().find("invalid argument: alltoall: algorithm 'direct' does not "
                                         "work in place; candidates: "),
            0u);
}

TEST(Explain, TellsTheChoiceAndEveryCandidate) {
  const auto tuning = tuned(agreed_on(1, 8));
  const Request request = all_reduce(1 << 20);
  const Result<Explanation> told = explain(*tuning, request);
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_EQ(told.value().choice, select(*tuning, request).value());
  EXPECT_EQ(told.value().why, "the cheapest at about its size");
  const std::vector<Candidate>& candidates = told.value().candidates;
  EXPECT_EQ(candidates.size(), algorithms(Collective::all_reduce).size());
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    EXPECT_LE(candidates[i - 1].refusal.empty() ? 0 : 1, candidates[i].refusal.empty() ? 0 : 1);
    if (!candidates[i].refusal.empty()) continue;
    EXPECT_LE(candidates[i - 1].price.time, candidates[i].price.time);
    EXPECT_STRNE(candidates[i].price.why, "");
  }
  EXPECT_EQ(candidates.back().refusal, "does not fit 1 node x 8 ranks");
}

TEST(Explain, NamesTheRuleThatFired) {
  Agreed agreed = agreed_on(1, 8);
  agreed.rules = {rule_of("ring")};
  EXPECT_EQ(explain(*tuned(agreed), all_reduce(1)).value().why, "rule: HOCKET_ALGO");
  const Algorithm* const ring = find(Collective::all_reduce, "ring");
  EXPECT_EQ(explain(*tuned(agreed), all_reduce(1), ring).value().why, "the call named it");
}

}  // namespace
}  // namespace hocket::algo
