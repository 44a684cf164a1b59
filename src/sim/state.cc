// SPDX-License-Identifier: Apache-2.0
#include "sim/state.h"

#include <utility>

#include "sim/sim_rank.h"

namespace hocket::sim {

State::State(std::shared_ptr<const Topology> t, const Options& options)
    : topology(std::move(t)),
      costs(options.costs),
      jitter(options.jitter),
      detection(options.detection),
      bytes(options.bytes),
      random(options.seed),
      board(topology->world()),
      queue(topology->nodes(), latency()) {
  ranks.reserve(topology->world());
  for (std::uint32_t rank = 0; rank < topology->world(); ++rank)
    ranks.emplace_back(*this, Rank{rank}, topology->seat(Rank{rank}).node.value);
}

State::~State() = default;

void State::know_gone(Rank rank) {
  board.know_gone(rank);
  for (SimRank& other : ranks) other.give_up(rank);
}

void State::spread_news() {
  for (std::uint32_t rank = 0; rank < topology->world(); ++rank)
    queue.push(ranks[rank].node(), turn_event(news_at(), Rank{rank}, Turn::look));
}

}  // namespace hocket::sim
