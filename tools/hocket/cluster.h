// SPDX-License-Identifier: Apache-2.0
// What `sim` and `explain` ask of the user to make a cluster that is not there: ranks, nodes,
// costs. Failure: CLI::ValidationError, naming option and value.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algo/select.h"
#include "topo/topology.h"

namespace CLI {
class App;
}

namespace hocket::tools {

struct ClusterOptions {
  std::uint32_t ranks = 8, ranks_per_node = 8;
  std::string costs = "cluster";  ///< or "host"
  std::uint32_t credits = 8;
  double message_ns = -1;  ///< CPU time of a message; negative: as the costs say
};
void add_cluster_options(CLI::App& command, ClusterOptions& options);

/// Full nodes, then one with the ranks that are left.
std::shared_ptr<const Topology> topology_of(const ClusterOptions& options);
/// A check of an option: a whole number that 64 bits hold.
std::string check_number(const std::string& text);
/// A time in whatever unit the option has: 0 to kMostTime.
std::string check_time(const std::string& text);
/// Most of a time on the command line, in whatever unit its option has.
inline constexpr double kMostTime = 1e9;
/// Bytes of the largest message; throws a CLI::ValidationError beyond 64 to 1G.
std::uint32_t parse_slice(const std::string& text);
Costs costs_of(const ClusterOptions& options);

/// "all_reduce", ...
Collective parse_collective(const std::string& name);
/// A request of about so many bytes of block space, at least one element.
Request request_of(Collective collective, std::uint64_t bytes, std::uint32_t ranks);
/// "auto", "all" or a name: the algorithms of the collective, null for selection.
std::vector<const Algorithm*> parse_algorithms(const std::string& name, Collective collective);

/// "42.1 us", "1.30 ms": for people.
std::string print_time(Picoseconds time);

}  // namespace hocket::tools
