// SPDX-License-Identifier: Apache-2.0
#include "algo/select.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "algo/table.h"
#include "base/array.h"

namespace hocket::algo {
namespace {

constexpr std::uint64_t kMessagesCompared = 2048;      // followed per price while a table is made
constexpr std::uint32_t kSmallest = 6, kLargest = 34;  // powers of two, by fours, with a threshold
constexpr std::size_t kContenders = 2;                 // of which all ways are compared
constexpr std::uint64_t kLeastPiece = 16 * 1024;       // smaller ones are not worth their messages
constexpr std::uint64_t kMostRounds = 1 << 16;         // of pieces, for caches' sake
constexpr std::size_t kPricing = 1 << 20;              // bytes: far more than making a table takes

/// Why `algorithm` cannot serve the request; empty when it can.
std::string refusal(const Algorithm& algorithm, const Agreed& agreed, const Request& request) {
  const Topology& topology = *agreed.topology;
  if (!algorithm.fits(topology)) return "does not fit " + topology.text();
  if (request.in_place && !algorithm.in_place) return "does not work in place";
  return {};
}

/// Why `algorithm` is taken only if it is named; empty when it is a contender.
std::string objection(const Algorithm& algorithm, const Agreed& agreed, const Request& request) {
  std::string why_not = refusal(algorithm, agreed, request);
  if (!why_not.empty() || !agreed.on_streams || algorithm.pattern != Pattern::none) return why_not;
  return "has no pattern: on a stream a launch a round, only if it is named";
}

std::string candidates(Collective collective, const Agreed& agreed, bool in_place) {
  Request request;
  request.in_place = in_place;
  std::string names;
  for (const Algorithm& algorithm : algorithms(collective))
    if (refusal(algorithm, agreed, request).empty())
      names += (names.empty() ? "" : ", ") + std::string(algorithm.name);
  return names.empty() ? "none" : names;
}

/// Of all collectives, each once.
std::string all_names() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kCollectives; ++i)
    for (const Algorithm& algorithm : algorithms(static_cast<Collective>(i)))
      if (std::find(names.begin(), names.end(), algorithm.name) == names.end())
        names.emplace_back(algorithm.name);
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Ways to carry out an algorithm, simplest first.
std::vector<Choice> ways(const Algorithm& algorithm, const Agreed& agreed, std::uint64_t bytes) {
  std::vector<Choice> ways{{&algorithm, 1, 1, agreed.slice_bytes}};
  if (algorithm.collective == Collective::send_recv) return ways;
  const auto add = [&](std::uint32_t channels, std::uint32_t pieces, std::uint32_t slice_bytes) {
    if (channels <= agreed.channels && bytes / pieces >= kLeastPiece)
      ways.push_back({&algorithm, channels, pieces, slice_bytes});
  };
  for (const std::uint32_t channels : {2u, 4u}) add(channels, channels, agreed.slice_bytes);
  if (algorithm.depth(*agreed.topology) > 1)
    for (const std::uint32_t pieces : {4u, 16u, 64u}) add(1, pieces, agreed.slice_bytes);
  const std::uint32_t small = agreed.slice_bytes / 8;
  if (bytes >= agreed.slice_bytes && small >= kLeastPiece) add(1, 1, small);
  return ways;
}

/// The request that stands for all of about its size: cut evenly, so that few ranks stand for all.
Request evened(const Choice& choice, const Topology& topology, Request request) {
  std::uint64_t parts = choice.pieces;
  if (!request.block_per_rank()) parts *= choice.algorithm->shape(topology).blocks;
  request.count = std::max<std::uint64_t>(1, (request.count + parts - 1) / parts) * parts;
  return request;
}

struct Way {
  Choice choice;
  Picoseconds time = 0;
};

Way priced(const Choice& choice, const Agreed& agreed, const Request& request) {
  const Topology& topology = *agreed.topology;
  const Plan plan = plan_of(choice, topology, evened(choice, topology, request));
  return {choice, price(plan, agreed.costs, kMessagesCompared).time};
}

/// The cheapest way to carry out an algorithm. What costs more messages must save a twentieth.
Way best_way(const Algorithm& algorithm, const Agreed& agreed, const Request& request) {
  Way best;
  for (const Choice& choice :
       ways(algorithm, agreed, request.total_bytes(agreed.topology->world()))) {
    const Way way = priced(choice, agreed, request);
    if (best.choice.algorithm == nullptr || way.time + way.time / 20 < best.time) best = way;
  }
  return best;
}

/// Of algorithms that fit: the cheapest way of those whose simplest way is cheapest.
Choice cheapest_of(const std::vector<const Algorithm*>& fitting, const Agreed& agreed,
                   const Request& request) {
  std::vector<Way> simplest;
  for (const Algorithm* const algorithm : fitting)
    simplest.push_back(priced({algorithm, 1, 1, agreed.slice_bytes}, agreed, request));
  const auto cheaper = [](const Way& a, const Way& b) {  // or first in the table
    return a.time != b.time ? a.time < b.time : a.choice.algorithm < b.choice.algorithm;
  };
  std::sort(simplest.begin(), simplest.end(), cheaper);
  simplest.resize(std::min(simplest.size(), kContenders));
  for (Way& way : simplest) way = best_way(*way.choice.algorithm, agreed, request);
  return std::min_element(simplest.begin(), simplest.end(), cheaper)->choice;
}

const Rule* rule_for(const Agreed& agreed, const Request& request) {
  for (auto rule = agreed.rules.rbegin(); rule != agreed.rules.rend(); ++rule) {
    if (rule->collective == request.collective) return &*rule;
    if (rule->collective) continue;
    const Algorithm* const algorithm = find(request.collective, rule->algorithm);
    if (algorithm != nullptr && refusal(*algorithm, agreed, request).empty()) return &*rule;
  }
  return nullptr;
}

/// What a call or a rule names.
struct Forced {
  const Algorithm& algorithm;
  const Rule* rule = nullptr;
};

Choice carry_out(const Forced& forced, const Agreed& agreed, const Request& request) {
  const Rule* const rule = forced.rule;
  if (rule == nullptr || (rule->channels == 0 && rule->pieces == 0 && rule->slice_bytes == 0))
    return best_way(forced.algorithm, agreed, request).choice;
  const std::uint32_t channels = std::clamp(rule->channels, 1u, agreed.channels);
  const std::uint32_t slice = rule->slice_bytes ? rule->slice_bytes : agreed.slice_bytes;
  return {&forced.algorithm, channels, rule->pieces ? rule->pieces : channels,
          std::min(slice, agreed.slice_bytes)};
}

Result<Choice> force(const Tuning& tuning, const Request& request, const Forced& forced) {
  const Agreed& agreed = tuning.agreed();
  const Algorithm& algorithm = forced.algorithm;
  std::string why_not;
  if (algorithm.collective != request.collective) {
    why_not = "is an algorithm of " + std::string(name_of(algorithm.collective));
  } else {
    why_not = refusal(algorithm, agreed, request);
  }
  if (!why_not.empty())
    return Error(Code::invalid_argument,
                 std::string(name_of(request.collective)) + ": algorithm '" + algorithm.name +
                     "' " + why_not +
                     "; candidates: " + candidates(request.collective, agreed, request.in_place));
  Choice choice = carry_out(forced, agreed, request);
  choice.reason = forced.rule != nullptr ? Reason::rule : Reason::call;
  return choice;
}

/// Into more pieces, as many for each channel, until none is longer than Agreed::piece_bytes, or
/// there are very many.
Choice cut(Choice choice, const Agreed& agreed, const Request& request) {
  const bool reads_once =
      request.collective == Collective::alltoall || request.collective == Collective::send_recv;
  if (agreed.piece_bytes == 0 || reads_once) return choice;
  const std::uint64_t whole = request.total_bytes(agreed.topology->world());
  const std::uint64_t round = std::uint64_t{agreed.piece_bytes} * choice.channels;
  const std::uint64_t rounds = std::min<std::uint64_t>((whole + round - 1) / round, kMostRounds);
  choice.pieces = std::max(choice.pieces, static_cast<std::uint32_t>(rounds) * choice.channels);
  return choice;
}

Result<void> check_rule(const Rule& rule, const Agreed& agreed) {
  const Topology& topology = *agreed.topology;
  bool exists = false;
  for (std::size_t i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const Algorithm* const algorithm = find(collective, rule.algorithm);
    exists |= algorithm != nullptr;
    if (rule.collective != collective || (algorithm && algorithm->fits(topology))) continue;
    return Error(Code::invalid_argument,
                 rule.origin + ": " + name_of(collective) +
                     (algorithm ? ": algorithm '" : " has no algorithm '") + rule.algorithm +
                     (algorithm ? "' does not fit " + topology.text() : "'") +
                     "; candidates: " + candidates(collective, agreed, false));
  }
  if (exists) return kOk;
  return Error(Code::invalid_argument, rule.origin + ": no collective has an algorithm '" +
                                           rule.algorithm + "'; candidates: " + all_names());
}

}  // namespace

bool Agreed::operator==(const Agreed& other) const {
  return *topology == *other.topology && costs == other.costs && channels == other.channels &&
         slice_bytes == other.slice_bytes && piece_bytes == other.piece_bytes &&
         on_streams == other.on_streams && rules == other.rules;
}

Plan plan_of(const Choice& choice, const Topology& topology, const Request& request) {
  Plan plan = make_plan(*choice.algorithm, topology, request);
  plan.channels = choice.channels;
  plan.pieces = choice.pieces;
  plan.slice_bytes = choice.slice_bytes;
  return plan;
}

Result<std::shared_ptr<const Tuning>> Tuning::make(Agreed agreed) {
  for (const Rule& rule : agreed.rules) {
    TRY_VOID(check_rule(rule, agreed));
  }
  return std::make_shared<const Tuning>(std::move(agreed));
}

Result<Choice> Tuning::choose(const Request& request) const {
  Table& table = tables_[static_cast<std::size_t>(request.collective)][request.in_place];
  if (table.made.load() == 0) {
    const Held making(table.making);
    if (table.made.load() == 0) {
      if (!is_memory_left(kPricing)) return Error::no_memory();
      table.rows = make_rows(request.collective, request.in_place);
      table.made.store(1);
    }
  }
  const std::uint64_t bytes = request.total_bytes(agreed_.topology->world());
  for (const Threshold& threshold : table.rows)
    if (bytes <= threshold.bytes) return threshold.choice;
  return Choice();
}

std::vector<Tuning::Threshold> Tuning::make_rows(Collective collective, bool in_place) const {
  const Topology& topology = *agreed_.topology;
  std::vector<Threshold> rows;
  Request request;
  request.collective = collective;
  request.in_place = in_place;
  const Rule* const rule = rule_for(agreed_, request);
  std::vector<const Algorithm*> fitting;
  for (const Algorithm& algorithm : algorithms(collective)) {
    if (rule != nullptr && rule->algorithm != algorithm.name) continue;
    const auto why_not = rule != nullptr ? refusal : objection;
    if (why_not(algorithm, agreed_, request).empty()) fitting.push_back(&algorithm);
  }
  for (std::uint32_t power = kSmallest; !fitting.empty() && power <= kLargest; power += 2) {
    const std::uint64_t bytes = std::uint64_t{1} << power;
    const std::uint64_t unit =
        size_of(request.type) * (request.block_per_rank() ? topology.world() : std::uint64_t{1});
    request.count = collective == Collective::barrier ? 0 : (bytes + unit - 1) / unit;
    Choice choice = rule != nullptr ? carry_out({*fitting[0], rule}, agreed_, request)
                                    : cheapest_of(fitting, agreed_, request);
    if (fitting.size() == 1) choice.reason = rule != nullptr ? Reason::rule : Reason::only;
    const std::uint64_t up_to = 2 * bytes;  // half way to the next, on a scale of powers
    if (!rows.empty() && rows.back().choice == choice) {
      rows.back().bytes = up_to;
    } else {
      rows.push_back({up_to, choice});
    }
  }
  if (!rows.empty()) rows.back().bytes = UINT64_MAX;
  return rows;
}

Result<Choice> select(const Tuning& tuning, const Request& request, const Algorithm* forced) {
  const Agreed& agreed = tuning.agreed();
  if (forced != nullptr) {
    TRY(const Choice choice, force(tuning, request, {*forced}));
    return cut(choice, agreed, request);
  }
  TRY(const Choice choice, tuning.choose(request));
  if (choice.algorithm != nullptr) return cut(choice, agreed, request);
  if (const Rule* const rule = rule_for(agreed, request))  // it has to say why it cannot be
    return force(tuning, request, {*find(request.collective, rule->algorithm), rule});
  return Error(Code::unsupported, std::string(name_of(request.collective)) + ": no algorithm for " +
                                      agreed.topology->text() +
                                      (request.in_place ? " in place" : ""));
}

Result<Explanation> explain(const Tuning& tuning, const Request& request, const Algorithm* forced) {
  const Agreed& agreed = tuning.agreed();
  Explanation told;
  TRY(told.choice, select(tuning, request, forced));
  for (const Algorithm& algorithm : algorithms(request.collective)) {
    Candidate& candidate = told.candidates.emplace_back();
    candidate.choice.algorithm = &algorithm;
    const bool is_chosen = &algorithm == told.choice.algorithm;
    candidate.refusal = is_chosen ? "" : objection(algorithm, agreed, request);
    if (!candidate.refusal.empty()) continue;
    candidate.choice =
        is_chosen ? told.choice : cut(best_way(algorithm, agreed, request).choice, agreed, request);
    candidate.price = price(plan_of(candidate.choice, *agreed.topology, request), agreed.costs);
  }
  std::sort(told.candidates.begin(), told.candidates.end(),
            [](const Candidate& a, const Candidate& b) {
              if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
              if (a.price.time != b.price.time) return a.price.time < b.price.time;
              return a.choice.algorithm < b.choice.algorithm;
            });
  switch (told.choice.reason) {
    case Reason::call:
      told.why = "the call named it";
      break;
    case Reason::rule:
      told.why = "rule: " + rule_for(agreed, request)->origin;
      break;
    case Reason::only:
      told.why = "nothing else fits";
      break;
    case Reason::cheapest:
      told.why = "the cheapest at about its size";
  }
  return told;
}

}  // namespace hocket::algo
