// SPDX-License-Identifier: Apache-2.0
#include "plan/prove.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "plan/patterns.h"
#include "plan/well_formed.h"

namespace hocket {
namespace {

using proof::Fault;
using proof::Rounds;

Error refuted(const Plan& plan, ChannelId channel, const Fault& fault) {
  const Request& request = plan.request;
  std::string text = std::string(name_of(request.collective)) + " " + plan.algorithm->name + ", " +
                     plan.topology->text();
  if (request.root.value != 0) text += ", root " + std::to_string(request.root.value);
  if (channel.value != 0) text += ", channel " + std::to_string(channel.value);
  if (request.in_place) text += ", in place";
  text += ": rank " + std::to_string(fault.rank.value) + " round " + std::to_string(fault.round) +
          ": " + fault.what;
  return Error(Code::invalid_argument, std::move(text)).at_rank(fault.rank);
}

// Asks every rank for every round, and looks at each by itself.
std::optional<Fault> tabulate(const Plan& plan, std::span<const Request> requests,
                              ChannelId channel, Rounds& rounds) {
  const std::uint32_t world = plan.topology->world();
  const Expansion* canonical = expansion(plan.algorithm->pattern);
  rounds.count = plan.shape.rounds;
  rounds.exchanges.clear();
  bool idle = true;  // in the last round
  for (std::uint32_t r = 0; r < world; ++r)
    for (std::uint32_t k = 0; k < rounds.count; ++k) {
      const At at{*plan.topology, requests[r], Rank{r}, channel};
      const Exchange& x = rounds.exchanges.emplace_back(plan.algorithm->round(at, k));
      if (const char* wrong = proof::ill_formed(plan, at, k, x)) return Fault{Rank{r}, k, wrong};
      if (canonical != nullptr && x != canonical->round(at, k))
        return Fault{Rank{r}, k, std::string("is not as in ") + name_of(plan.algorithm->pattern)};
      if (k + 1 == rounds.count && (x.to != kNobody || x.from != kNobody)) idle = false;
    }
  if (rounds.count > 0 && idle) return Fault{Rank{0}, rounds.count - 1, "nobody does anything"};
  return {};
}

// What is wrong with the row itself.
std::optional<Fault> check_row(const Plan& plan) {
  const Algorithm& row = *plan.algorithm;
  if (!row.fits(*plan.topology)) return Fault{Rank{0}, 0, "does not fit the topology"};
  if (plan.shape != row.shape(*plan.topology)) return Fault{Rank{0}, 0, "has another shape"};
  if (plan.request.block_per_rank() && plan.shape.blocks != plan.topology->world())
    return Fault{Rank{0}, 0, "blocks are the user's: one for each rank"};
  const Expansion* canonical = expansion(row.pattern);
  if (canonical == nullptr) return {};
  if (row.collective != canonical->collective || row.fold_order != canonical->fold_order ||
      plan.shape != canonical->shape(*plan.topology))
    return Fault{Rank{0}, 0, std::string("is not shaped as ") + name_of(row.pattern)};
  return {};
}

}  // namespace

Result<Proof> Prover::prove(const Plan& plan, std::span<const Request> requests) {
  const std::uint32_t world = plan.topology->world();
  constexpr std::uint32_t kEvents = std::numeric_limits<std::int16_t>::max() - 2;
  if (world > kMostProvenRanks || std::uint64_t{plan.pieces} * plan.shape.rounds > kEvents)
    return Error(Code::invalid_argument, "too large to be proven: " + plan.topology->text());
  if (requests.empty()) {
    requests_.assign(world, plan.request);
  } else {
    requests_.assign(requests.begin(), requests.end());
  }
  CHECK(requests_.size() == world, "requests to prove with: one a rank");
  if (const auto fault = check_row(plan)) return refuted(plan, {}, *fault);

  Proof proof;
  for (std::uint32_t c = 0; c < std::min(plan.channels, plan.pieces); ++c) {
    const ChannelId channel{static_cast<std::uint16_t>(c)};
    if (const auto fault = tabulate(plan, requests_, channel, rounds_))
      return refuted(plan, channel, *fault);
    const std::uint32_t pieces = (plan.pieces - c + plan.channels - 1) / plan.channels;
    if (const auto fault = replay_.run(plan, requests_, rounds_, pieces))
      return refuted(plan, channel, *fault);
    const std::uint32_t depth = replay_.tally().depth;
    if (depth != plan.algorithm->depth(*plan.topology))
      return refuted(plan, channel, {Rank{0}, 0, "has a depth of " + std::to_string(depth)});
    proof.exchanges += replay_.tally().exchanges;
    proof.messages += replay_.tally().messages;
    proof.entries += replay_.tally().entries;
    if (!proof.uses_scratch)
      proof.uses_scratch =
          std::any_of(rounds_.exchanges.begin(), rounds_.exchanges.end(), proof::uses_scratch);
  }
  return proof;
}

}  // namespace hocket
