// SPDX-License-Identifier: Apache-2.0
// What all ranks of one simulated world share. A plain struct: SimWorld makes it, its ranks and its
// main loop work on it. Threads: one. Ownership: of everything but the device that moves bytes.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "sim/board.h"
#include "sim/parcels.h"
#include "sim/queue.h"
#include "topo/topology.h"
#include "world/device.h"

namespace hocket::sim {

class SimRank;

struct Options {
  Costs costs;
  std::uint64_t seed = 1;
  Picoseconds jitter = 0;  ///< each message's latency is up to so much longer
  /// From the moment that a rank is gone until the others know.
  Picoseconds detection = 1'000'000'000;
  /// Does what folds and copies do to real bytes, at once; null: payloads are elided. Borrowed.
  world::Device* bytes = nullptr;
};

/// What a Kind::turn event is about; at one instant in this order.
enum class Turn : std::uint8_t { crash, found_dead, found_left, start, look };

inline Event turn_event(Picoseconds time, Rank rank, Turn what) {
  return Event(time, Kind::turn, {rank, ChannelId{0}, Rank{static_cast<std::uint32_t>(what)}});
}

/// Who sits where, as a table: Topology::seat divides.
struct Nodes {
  explicit Nodes(const Topology& topology);
  std::vector<std::uint32_t> of;     ///< of each rank
  std::vector<std::uint32_t> first;  ///< rank of each node, and the world's size
};

struct State {
  State(std::shared_ptr<const Topology> t, const Options& options);
  ~State();

  const std::shared_ptr<const Topology> topology;
  const Nodes nodes;
  const Costs costs;
  const Picoseconds jitter, detection;
  world::Device* const bytes;
  Prng random;
  Board board;
  Queue queue;
  Parcels parcels;
  std::vector<SimRank> ranks;
  Picoseconds now = 0;     ///< of the event that is being served
  Picoseconds window = 0;  ///< every node has come this far
  std::uint64_t messages = 0;
  Hash hash;  ///< over all arrivals, as they come

  /// The least latency between nodes: how long news takes, and a window of the queue.
  Picoseconds latency() const {
    return costs.of(topology->nodes() > 1 ? LinkClass::rail : LinkClass::node).alpha;
  }
  /// When the published failure is known to all.
  Picoseconds news_at() const { return board.published() + latency(); }
  /// Nobody waits for the rank any more.
  void know_gone(Rank rank);
  /// Has every rank look at the failure just published, then.
  void spread_news();
};

}  // namespace hocket::sim
