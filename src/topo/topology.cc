// SPDX-License-Identifier: Apache-2.0
#include "topo/topology.h"

#include <utility>

namespace hocket {
namespace {

constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 24;

}  // namespace

Result<Topology> Topology::make(std::vector<NodeRun> runs, std::uint32_t rails) {
  Topology topology;
  std::uint64_t world = 0;
  for (const NodeRun& run : runs) {
    if (run.nodes == 0 || run.ranks == 0)
      return Error(Code::invalid_argument, "topology: a run of " + std::to_string(run.nodes) +
                                               " nodes of " + std::to_string(run.ranks) +
                                               " ranks is empty");
    world += std::uint64_t{run.nodes} * run.ranks;
    if (world > kMostRanks) return Error(Code::invalid_argument, "topology: more than 2^24 ranks");
    topology.nodes_ += run.nodes;
    if (!topology.runs_.empty() && topology.runs_.back().ranks == run.ranks) {
      topology.runs_.back().nodes += run.nodes;
    } else {
      topology.runs_.push_back(run);
    }
  }
  if (world == 0) return Error(Code::invalid_argument, "topology: no ranks");
  if (rails == 0) return Error(Code::invalid_argument, "topology: no rails");
  topology.world_ = static_cast<std::uint32_t>(world);
  topology.rails_ = rails;
  return topology;
}

Topology::Topology(std::uint32_t nodes, std::uint32_t ranks_per_node, std::uint32_t rails) {
  Result<Topology> made = make({{nodes, ranks_per_node}}, rails);
  CHECK(made.has_value(), "a topology of no or too many ranks");
  *this = std::move(made).value();
}

Seat Topology::seat(Rank rank) const {
  CHECK(rank.value < world_, "seat of a rank outside the world");
  std::uint32_t node = 0, first = 0;
  for (const NodeRun& run : runs_) {
    const std::uint32_t inside = rank.value - first;
    if (inside < run.nodes * run.ranks) {
      const std::uint32_t index = inside % run.ranks;
      return {NodeId{node + inside / run.ranks}, Rank{rank.value - index}, index, run.ranks};
    }
    first += run.nodes * run.ranks;
    node += run.nodes;
  }
  return {};
}

LinkClass Topology::between(Rank a, Rank b) const {
  if (nodes_ == 1) return LinkClass::node;
  const Seat seat_a = seat(a);
  const bool same = b.value >= seat_a.first.value && b.value < seat_a.first.value + seat_a.ranks;
  return same ? LinkClass::node : LinkClass::rail;
}

std::string Topology::text() const {
  std::string text;
  for (const NodeRun& run : runs_) {
    if (!text.empty()) text += " + ";
    text += std::to_string(run.nodes) + (run.nodes == 1 ? " node x " : " nodes x ") +
            std::to_string(run.ranks) + (run.ranks == 1 ? " rank" : " ranks");
  }
  return text;
}

}  // namespace hocket
