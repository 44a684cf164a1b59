// SPDX-License-Identifier: Apache-2.0
#include "sim/state.h"

#include <utility>

#include "sim/sim_rank.h"

namespace hocket::sim {

Nodes::Nodes(const Topology& topology) {
  of.reserve(topology.world());
  first.reserve(topology.nodes() + 1);
  for (const NodeRun& run : topology.runs())
    for (std::uint32_t node = 0; node < run.nodes; ++node) {
      const auto number = static_cast<std::uint32_t>(first.size());
      first.push_back(static_cast<std::uint32_t>(of.size()));
      of.insert(of.end(), run.ranks, number);
    }
  first.push_back(topology.world());
}

State::State(std::shared_ptr<const Topology> t, const Options& options)
    : topology(std::move(t)),
      nodes(*topology),
      costs(options.costs),
      jitter(options.jitter),
      detection(options.detection),
      bytes(options.bytes),
      random(options.seed),
      board(topology->world()),
      queue(topology->nodes(), latency()) {
  ranks.reserve(topology->world());
  for (std::uint32_t rank = 0; rank < topology->world(); ++rank)
    ranks.emplace_back(*this, Rank{rank});
}

State::~State() = default;

void State::know_gone(Rank rank) {
  board.know_gone(rank);
  for (SimRank& other : ranks) other.give_up(rank);
}

void State::spread_news() {
  for (std::uint32_t rank = 0; rank < topology->world(); ++rank)
    queue.push(nodes.of[rank], turn_event(news_at(), Rank{rank}, Turn::look));
}

}  // namespace hocket::sim
