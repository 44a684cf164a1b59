// SPDX-License-Identifier: Apache-2.0
#include "plan/prove_all.h"

#include <string>
#include <string_view>

#include "base/prng.h"

namespace hocket {
namespace {

constexpr std::uint32_t kUneven = 200;
constexpr std::uint32_t kSmallWorld = 16;

struct Cut {
  std::uint32_t channels, pieces;
};

std::vector<Cut> cuts(const Topology& topology) {
  if (topology.world() > kSmallWorld) return {{1, 1}, {4, 3}};
  std::vector<Cut> all;
  for (std::uint32_t channels = 1; channels <= 4; ++channels)
    for (std::uint32_t pieces = 1; pieces <= 3; ++pieces) all.push_back({channels, pieces});
  return all;
}

std::uint32_t roots(const Algorithm& algorithm, const Topology& topology) {
  const Collective c = algorithm.collective;
  const bool rooted =
      c == Collective::broadcast || c == Collective::reduce || c == Collective::send_recv;
  return rooted ? topology.world() : 1;
}

// Empty: everyone's request is the plan's.
std::vector<Request> requests_of(const Plan& plan) {
  std::vector<Request> requests;
  if (plan.request.collective != Collective::send_recv) return requests;
  const std::uint32_t world = plan.topology->world();
  for (std::uint32_t r = 0; r < world; ++r) {
    const std::uint32_t peer = (plan.request.root.value + world - r) % world;
    Request& request = requests.emplace_back(plan.request);
    request.root = Rank{peer};
    request.sends = (r < peer) != plan.request.in_place;
  }
  return requests;
}

Topology uneven(Prng& random, std::uint32_t max_ranks) {
  for (;;) {
    std::vector<NodeRun> runs(2 + random.below(3));
    for (NodeRun& run : runs) {
      run.nodes = static_cast<std::uint32_t>(1 + random.below(4));
      run.ranks = static_cast<std::uint32_t>(1 + random.below(9));
    }
    auto topology = Topology::make(std::move(runs));
    if (topology && !topology.value().uniform() && topology.value().world() <= max_ranks)
      return std::move(topology).value();
  }
}

}  // namespace

ProofTally& ProofTally::operator+=(const ProofTally& other) {
  plans += other.plans;
  exchanges += other.exchanges;
  messages += other.messages;
  entries += other.entries;
  uses_scratch |= other.uses_scratch;
  return *this;
}

std::vector<Topology> topologies_to_prove(std::uint32_t max_ranks) {
  CHECK(max_ranks <= kMostProvenRanks, "the prover knows at most 64 ranks");
  std::vector<Topology> drawn, all;
  Prng random(1);
  while (drawn.size() < kUneven && max_ranks > 2) drawn.push_back(uneven(random, max_ranks));
  for (std::uint32_t world = 1; world <= max_ranks; ++world) {
    for (std::uint32_t ranks = 1; ranks <= world; ++ranks)
      if (world % ranks == 0) all.emplace_back(world / ranks, ranks);
    for (const Topology& topology : drawn)
      if (topology.world() == world) all.push_back(topology);
  }
  return all;
}

bool should_fit(const Algorithm& algorithm, const Topology& topology) {
  if (!std::string_view(algorithm.name).starts_with("two_level(")) return true;
  return topology.uniform() && topology.nodes() > 1 && topology.ranks_per_node() > 1;
}

ProofTally plans_to_prove(const Algorithm& algorithm, const Topology& topology) {
  ProofTally tally;
  if (!should_fit(algorithm, topology)) return tally;
  const std::uint64_t each =
      std::uint64_t{roots(algorithm, topology)} * (algorithm.in_place ? 2 : 1);
  const std::uint64_t rounds = std::uint64_t{topology.world()} * algorithm.shape(topology).rounds;
  for (const Cut& cut : cuts(topology)) {
    tally.plans += each;
    tally.exchanges += each * rounds * cut.pieces;
  }
  return tally;
}

Result<ProofTally> prove_on(Prover& prover, const Algorithm& algorithm, const Topology& topology) {
  ProofTally tally;
  const bool fits = algorithm.fits(topology);
  if (fits != should_fit(algorithm, topology))
    return Error(Code::invalid_argument, std::string(name_of(algorithm.collective)) + " " +
                                             algorithm.name + (fits ? " fits " : " does not fit ") +
                                             topology.text());
  if (!fits) return tally;
  Request request;
  request.collective = algorithm.collective;
  for (const Cut& cut : cuts(topology))
    for (std::uint32_t root = 0; root < roots(algorithm, topology); ++root)
      for (const bool in_place : {false, true}) {
        if (in_place && !algorithm.in_place) continue;
        request.root = Rank{root};
        request.in_place = in_place;
        Plan plan = make_plan(algorithm, topology, request);
        plan.channels = cut.channels;
        plan.pieces = cut.pieces;
        TRY(const Proof proof, prover.prove(plan, requests_of(plan)));
        tally += {1, proof.exchanges, proof.messages, proof.entries, proof.uses_scratch};
      }
  return tally;
}

}  // namespace hocket
