// SPDX-License-Identifier: Apache-2.0
#include "tools/hocket/cluster.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "algo/table.h"
#include "tools/hocket/report.h"

namespace hocket::tools {

void add_cluster_options(CLI::App& command, ClusterOptions& options) {
  command.add_option("-n,--ranks", options.ranks)
      ->capture_default_str()
      ->check(CLI::Range(1u, 1u << 20));
  command.add_option("--ranks-per-node", options.ranks_per_node)
      ->capture_default_str()
      ->check(CLI::Range(1u, 1u << 20));
  command.add_option("--costs", options.costs, "cluster: GPUs, NICs; host: shared memory")
      ->capture_default_str()
      ->check(CLI::IsMember({"cluster", "host"}));
  command.add_option("--credits", options.credits, "messages under way per link and channel")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1u << 20));
  command.add_option("--message-ns", options.message_ns, "CPU time of handing over a message")
      ->check(check_time);
}

std::string check_number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return "'" + text + "' is no whole number below 2^64";
}

std::string check_time(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && value >= 0 && value <= kMostTime) return "";
  return "Value " + text + " not in range 0 to " + fmt::format("{:g}", kMostTime);
}

std::shared_ptr<const Topology> topology_of(const ClusterOptions& options) {
  const std::uint32_t full = options.ranks / options.ranks_per_node;
  std::vector<NodeRun> runs;
  if (full > 0) runs.push_back({full, options.ranks_per_node});
  if (const std::uint32_t rest = options.ranks % options.ranks_per_node) runs.push_back({1, rest});
  Result<Topology> topology = Topology::make(std::move(runs), options.ranks_per_node);
  if (!topology) throw CLI::ValidationError("-n", topology.error().message());
  return std::make_shared<const Topology>(std::move(topology).value());
}

std::uint32_t parse_slice(const std::string& text) {
  return static_cast<std::uint32_t>(parse_bytes(text, {"--slice", 64, 1 << 30}));
}

Costs costs_of(const ClusterOptions& options) {
  Costs costs = options.costs == "host" ? shared_memory_costs() : Costs{.message = 300'000};
  costs.credits = options.credits;
  if (options.message_ns >= 0)
    costs.message = static_cast<Picoseconds>(options.message_ns * 1'000 + 0.5);
  return costs;
}

Collective parse_collective(const std::string& name) {
  std::string names;
  for (std::size_t i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (name == name_of(collective)) return collective;
    names += std::string(i ? ", " : "") + name_of(collective);
  }
  throw CLI::ValidationError("collective", fmt::format("'{}' is none of {}", name, names));
}

Request request_of(Collective collective, std::uint64_t bytes, std::uint32_t ranks) {
  Request request;
  request.collective = collective;
  if (collective == Collective::barrier) return request;
  if (collective == Collective::send_recv) request.root = Rank{ranks - 1};
  const std::uint64_t unit =
      std::uint64_t{size_of(request.type)} * (request.block_per_rank() ? ranks : 1);
  request.count = bytes == 0 ? 0 : std::max<std::uint64_t>(bytes / unit, 1);
  return request;
}

std::vector<const Algorithm*> parse_algorithms(const std::string& name, Collective collective) {
  if (name == "auto") return {nullptr};
  std::vector<const Algorithm*> found;
  std::string names = "auto, all";
  for (const Algorithm& algorithm : algo::algorithms(collective)) {
    if (name == "all" || name == algorithm.name) found.push_back(&algorithm);
    names += std::string(", ") + algorithm.name;
  }
  if (found.empty())
    throw CLI::ValidationError("--algo", fmt::format("'{}' is none of {}", name, names));
  return found;
}

std::string print_time(Picoseconds time) {
  const double us = static_cast<double>(time) / 1e6;
  if (us < 10'000) return fmt::format("{:.2f} us", us);
  return us < 1e7 ? fmt::format("{:.2f} ms", us / 1e3) : fmt::format("{:.2f} s", us / 1e6);
}

}  // namespace hocket::tools
