// SPDX-License-Identifier: Apache-2.0
#include "tools/hocket/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "algo/select.h"
#include "device/cuda/member.h"
#include "device/kernels/cut.h"
#include "engine/stream/lower.h"
#include "tools/hocket/cluster.h"
#include "tools/hocket/report.h"

namespace hocket::tools {
namespace {

struct Options {
  ClusterOptions cluster;
  std::string collective = "all_reduce", bytes = "1M", algorithm = "auto", slice = "512K", json;
  std::string memory = "host";
  std::uint32_t channels = 4;
  bool in_place = false;
};

double as_us(Picoseconds time) { return static_cast<double>(time) / 1e6; }

nlohmann::ordered_json as_json(const algo::Candidate& c, const Request& request,
                               std::uint32_t ranks, bool chosen) {
  nlohmann::ordered_json row = {{"collective", name_of(request.collective)},
                                {"bytes", request.total_bytes(ranks)},
                                {"ranks", ranks},
                                {"algorithm", c.choice.algorithm->name},
                                {"chosen", chosen}};
  if (!c.refusal.empty()) {
    row["refusal"] = c.refusal;
    return row;
  }
  row.update({{"channels", c.choice.channels},
              {"pieces", c.choice.pieces},
              {"slice_bytes", c.choice.slice_bytes},
              {"price_us", as_us(c.price.time)},
              {"alpha_us", as_us(c.price.alpha)},
              {"beta_us", as_us(c.price.beta)},
              {"gamma_us", as_us(c.price.gamma)},
              {"cpu_us", as_us(c.price.cpu)},
              {"exact", c.price.exact},
              {"why", c.price.why}});
  return row;
}

void print_candidate(const algo::Candidate& c, bool chosen) {
  const char* const mark = chosen ? ">" : " ";
  if (!c.refusal.empty()) {
    fmt::print("{} {:44} {}\n", mark, c.choice.algorithm->name, c.refusal);
    return;
  }
  const auto share = [&](Picoseconds part) {
    return 100 * static_cast<double>(part) /
           static_cast<double>(std::max<Picoseconds>(c.price.time, 1));
  };
  fmt::print("{} {:44} {:3} {:6} {:>6} {:>12} {:5.0f} {:5.0f} {:5.0f} {:5.0f}  {}: {}\n", mark,
             c.choice.algorithm->name, c.choice.channels, c.choice.pieces,
             print_bytes(c.choice.slice_bytes), print_time(c.price.time), share(c.price.alpha),
             share(c.price.beta), share(c.price.gamma), share(c.price.cpu),
             c.price.exact ? "exact" : "estimate", c.price.why);
}

/// As a communicator with hocket_options.cuda has it.
void on_streams(algo::Agreed& agreed) {
  const Topology& topology = *agreed.topology;
  if (topology.nodes() > 1 || topology.world() > world::kMostInDomain)
    throw CLI::ValidationError("--memory", "cuda: 1 to " + std::to_string(world::kMostInDomain) +
                                               " GPUs of one node, here are " + topology.text());
  agreed.costs = nvlink_costs();
  agreed.channels = 1;
  agreed.on_streams = true;
}

// How bytes travel between GPUs that have one rank each, in the first communicator there.

kernels::Capacity capacity_of(const Topology& topology) {
  return cuda::capacity_of(cuda::MemberOptions().large, topology.world());
}

std::string lowering_of_message(const Topology& topology, std::uint64_t bytes) {
  const kernels::Capacity capacity = capacity_of(topology);
  const kernels::Cut cut(bytes, capacity);
  return fmt::format("{}: a message of {} bytes, {} block{} of {} threads",
                     cut.is_packed ? "packet" : "staged", bytes, cut.stripes,
                     cut.stripes == 1 ? "" : "s", kernels::transfer_threads(capacity));
}

std::string lowering_of(const algo::Choice& choice, const Topology& topology,
                        const Request& request) {
  using namespace engine::stream;  // NOLINT: of nothing else here
  if (choice.algorithm->pattern == Pattern::none)
    return fmt::format("rounds: {} of them, each a launch",
                       make_plan(*choice.algorithm, topology, request).shape.rounds);
  const kernels::Capacity capacity = capacity_of(topology);
  const Limits limits{capacity.packets * sizeof(std::uint64_t), capacity.staged,
                      kernels::kMostBlocks};
  const std::uint64_t bytes = part_bytes(make_plan(*choice.algorithm, topology, request));
  const Result<Manner> manner = choose_manner(bytes, limits);
  if (!manner) throw std::runtime_error(manner.error().text());
  return std::string(name_of(manner->lowering)) + ": " + explain(*manner, bytes, limits);
}

constexpr SizeOption kSizes = {"--bytes", 0, std::uint64_t{1} << 48};

void run(const Options& options) {
  if (!options.json.empty()) check_writable(options.json);
  const Collective collective = parse_collective(options.collective);
  algo::Agreed agreed;
  agreed.topology = topology_of(options.cluster);
  agreed.costs = costs_of(options.cluster);
  agreed.channels = options.channels;
  agreed.slice_bytes = parse_slice(options.slice);
  if (options.memory == "cuda") on_streams(agreed);
  if (options.algorithm != "auto") {
    algo::Rule rule;
    rule.collective = collective;
    rule.algorithm = options.algorithm;
    rule.origin = "--algo";
    agreed.rules.push_back(rule);
  }
  const std::uint32_t ranks = options.cluster.ranks;
  Request request = request_of(collective, parse_bytes(options.bytes, kSizes), ranks);
  request.in_place = options.in_place;
  if (agreed.on_streams && collective == Collective::send_recv) {  // nothing to choose from
    fmt::print("{} of {} on {}: direct\non a stream by {}\n", options.collective,
               print_bytes(request.total_bytes(ranks)), agreed.topology->text(),
               lowering_of_message(*agreed.topology, request.count * size_of(request.type)));
    if (!options.json.empty()) Report().write(options.json);
    return;
  }
  const Result<std::shared_ptr<const algo::Tuning>> tuning = algo::Tuning::make(agreed);
  if (!tuning) throw std::runtime_error(tuning.error().text());
  const Result<algo::Explanation> told = algo::explain(**&tuning.value(), request);
  if (!told) throw std::runtime_error(told.error().text());

  const algo::Explanation& explanation = told.value();
  fmt::print("{} of {} on {}{}: {} ({})\n", name_of(collective),
             print_bytes(request.total_bytes(ranks)), agreed.topology->text(),
             request.in_place ? ", in place" : "", explanation.choice.algorithm->name,
             explanation.why);
  fmt::print("# {:44} {:>3} {:>6} {:>6} {:>12} {:>5} {:>5} {:>5} {:>5}\n", "candidate", "ch",
             "pieces", "slice", "price", "alp%", "bet%", "gam%", "cpu%");
  Report report;
  for (const algo::Candidate& candidate : explanation.candidates) {
    const bool chosen = candidate.choice.algorithm == explanation.choice.algorithm;
    print_candidate(candidate, chosen);
    report.add(as_json(candidate, request, ranks, chosen));
  }
  if (options.memory == "cuda")
    fmt::print("on a stream by {}\n", lowering_of(explanation.choice, *agreed.topology, request));
  if (!options.json.empty()) report.write(options.json);
}

}  // namespace

void add_explain(CLI::App& app) {
  auto* const command =
      app.add_subcommand("explain", "every candidate with its price, and why the winner won");
  const auto options = std::make_shared<Options>();
  command->add_option("collective", options->collective)->required();
  command->add_option("-b,--bytes", options->bytes, "of the block space")->capture_default_str();
  add_cluster_options(*command, options->cluster);
  command->add_option("--algo", options->algorithm, "a name, or auto")->capture_default_str();
  command->add_option("--memory", options->memory, "cuda: on streams, GPUs of one node")
      ->check(CLI::IsMember({"host", "cuda"}))
      ->capture_default_str();
  command->add_option("--channels", options->channels, "at most")
      ->check(CLI::Range(1u, 64u))
      ->capture_default_str();
  command->add_option("--slice", options->slice, "largest message")->capture_default_str();
  command->add_flag("--in-place", options->in_place);
  command->add_option("--json", options->json, "write the rows to this file");
  command->callback([options] { run(*options); });
}

}  // namespace hocket::tools
