// SPDX-License-Identifier: Apache-2.0
// Where ranks sit: nodes of ranks, in rank order, run-length coded, so that 16,384 equal nodes are
// one run. A value, made once, agreed by all ranks, then shared by every rank of a process as
// shared_ptr<const Topology>; nothing in it grows with the world size. Ownership: a value.
// Threads: immutable after construction. Cost: seat() is O(runs), nearly always one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "topo/costs.h"

namespace hocket {

struct NodeRun {  ///< `nodes` equal nodes of `ranks` ranks each
  std::uint32_t nodes = 1, ranks = 1;
  bool operator==(const NodeRun&) const = default;
};

struct Seat {  ///< where a rank sits: member `index` of the `ranks` ranks of `node`
  NodeId node;
  Rank first;  ///< rank of member 0 of the node
  std::uint32_t index = 0, ranks = 1;
  bool operator==(const Seat&) const = default;
};

class Topology {
 public:
  /// `runs` without empty nodes; equal neighbours are joined. Fails with invalid_argument on a run
  /// of zero nodes or ranks, or a world beyond 2^24 ranks.
  static Result<Topology> make(std::vector<NodeRun> runs, std::uint32_t rails = 1);
  /// `nodes` nodes of `ranks` ranks; CHECKs what make() refuses. For tests and tools.
  Topology(std::uint32_t nodes, std::uint32_t ranks_per_node, std::uint32_t rails = 1);

  std::uint32_t world() const { return world_; }
  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t rails() const { return rails_; }  ///< NICs of a node
  bool uniform() const { return runs_.size() == 1; }
  /// Of a uniform topology.
  std::uint32_t ranks_per_node() const { return runs_[0].ranks; }
  const std::vector<NodeRun>& runs() const { return runs_; }

  Seat seat(Rank rank) const;
  LinkClass between(Rank a, Rank b) const;
  /// "2 nodes x 8 ranks", "3 nodes x 4 ranks + 1 node x 2 ranks".
  std::string text() const;
  bool operator==(const Topology&) const = default;

 private:
  Topology() = default;
  std::vector<NodeRun> runs_;
  std::uint32_t world_ = 0, nodes_ = 0, rails_ = 1;
};

}  // namespace hocket
