// SPDX-License-Identifier: Apache-2.0
#include "tools/hocket/sim.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "scenario/run.h"
#include "tools/hocket/child.h"
#include "tools/hocket/cluster.h"
#include "tools/hocket/report.h"

namespace hocket::tools {
namespace {

constexpr SizeOption kSizes = {"--bytes", 0, std::uint64_t{1} << 40};

struct Options {
  ClusterOptions cluster;
  std::string collective = "all_reduce", algorithm = "auto", json;
  std::vector<std::string> sizes = {"1M"};
  std::string slice;
  std::uint32_t channels = 0, most_channels = 4;
  double late_us = 0, jitter_us = 0;
  std::uint64_t seed = 1;
};

struct Row {  ///< what a child tells its parent
  char algorithm[64] = {};
  char error[512] = {};
  std::uint32_t channels = 0;
  sim::Report report;
  double wall_us = 0;
  std::uint64_t idle_bytes = 0, active_bytes = 0, max_rss_bytes = 0;
};

/// What is allocated: pages that are resident would count code that runs for the first time.
std::uint64_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

template <std::size_t kSize>
void write_text(char (&target)[kSize], std::string_view text) {
  target[text.copy(target, kSize - 1)] = 0;
}

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

/// A line on the terminal every few seconds of a long run.
class Progress final : public scenario::Progress {
 public:
  void passed(Picoseconds virtual_time) override {
    if (now_us() < next_us_) return;
    next_us_ += kInterval;
    fmt::print(stderr, "# ... {} of virtual time\n", print_time(virtual_time));
  }

 private:
  static constexpr double kInterval = 5e6;
  double next_us_ = now_us() + kInterval;
};

Result<std::shared_ptr<const algo::Tuning>> tune(const Options& options, Collective collective,
                                                 const Algorithm* algorithm) {
  algo::Agreed agreed;
  agreed.topology = topology_of(options.cluster);
  agreed.costs = costs_of(options.cluster);
  agreed.channels = options.channels ? options.channels : options.most_channels;
  if (!options.slice.empty()) agreed.slice_bytes = parse_slice(options.slice);
  if (algorithm != nullptr) {
    algo::Rule rule;
    rule.collective = collective;
    rule.algorithm = algorithm->name;
    rule.origin = "--algo";
    rule.channels = options.channels;
    if (!options.slice.empty()) rule.slice_bytes = agreed.slice_bytes;
    agreed.rules.push_back(rule);
  }
  return algo::Tuning::make(std::move(agreed));
}

Result<void> simulate(const Options& options, const Request& request, const Algorithm* algorithm,
                      Row& row) {
  scenario::RunOptions run;
  TRY(run.tuning, tune(options, request.collective, algorithm));
  run.request = request;
  run.late = static_cast<Picoseconds>(options.late_us * 1e6);
  run.op_timeout = seconds(3'600);
  run.sim.seed = options.seed;
  run.sim.jitter = static_cast<Picoseconds>(options.jitter_us * 1e6);

  Progress progress;
  run.progress = &progress;

  const std::uint64_t before = allocated_bytes();
  TRY(const std::unique_ptr<scenario::Run> simulation, scenario::Run::make(run));
  row.idle_bytes = allocated_bytes() - before;
  const double start = now_us();
  const scenario::Outcome outcome = simulation->run();
  row.wall_us = now_us() - start;
  row.active_bytes = allocated_bytes() - before;
  row.report = outcome.report;
  row.channels = simulation->choice().channels;
  write_text(row.algorithm, simulation->choice().algorithm->name);
  if (!outcome.errors.empty()) return outcome.errors[0].clone();
  return kOk;
}

/// One row in a fresh process; what it wrote to `row`, and its peak of memory.
void simulate_apart(const Options& options, const Request& request, const Algorithm* algorithm,
                    Row& row) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    end_with(parent);
    const Result<void> done = simulate(options, request, algorithm, row);
    if (!done) write_text(row.error, done.error().text());
    _exit(0);
  }
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  row.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  if (status != 0) write_text(row.error, fmt::format("the process ended with status {}", status));
}

double bus_bandwidth(const Request& request, std::uint32_t ranks, Picoseconds time) {
  const double bytes = static_cast<double>(request.total_bytes(ranks));
  return time > 0 ? bus_factor(request.collective, ranks) * bytes * 1e3 / static_cast<double>(time)
                  : 0;
}

nlohmann::ordered_json as_json(const Row& row, const Request& request, std::uint32_t ranks) {
  const double virtual_us = static_cast<double>(row.report.finish) / 1e6;
  return {{"collective", name_of(request.collective)},
          {"bytes", request.total_bytes(ranks)},
          {"algorithm", row.algorithm},
          {"ranks", ranks},
          {"channels", row.channels},
          {"virtual_us", virtual_us},
          {"busbw_gbs", bus_bandwidth(request, ranks, row.report.finish)},
          {"messages", row.report.messages},
          {"events", row.report.events},
          {"wall_us", row.wall_us},
          {"max_rss_bytes", row.max_rss_bytes},
          {"idle_bytes_per_rank", row.idle_bytes / ranks},
          {"active_bytes_per_rank", row.active_bytes / ranks},
          {"hash", fmt::format("{:016x}", row.report.hash)}};
}

void print_head(const Options& options) {
  fmt::print("# {}, simulated, on {}\n", topology_of(options.cluster)->text(), machine());
  fmt::print("# {:14} {:>10} {:>7} {:>3} {:>12} {:>8} {:>11} {:>11} {:>8} {:>7} {:>6} {:>6} | {}\n",
             "collective", "size B", "ranks", "ch", "virtual us", "busbw", "messages", "events",
             "wall s", "Mmsg/s", "idle B", "act. B", "algorithm");
}

void print_row(const Row& row, const Request& request, std::uint32_t ranks) {
  fmt::print(
      "  {:14} {:10} {:7} {:3} {:12.2f} {:8.2f} {:11} {:11} {:8.2f} {:7.2f} {:6} {:6} | {}\n",
      name_of(request.collective), request.total_bytes(ranks), ranks, row.channels,
      static_cast<double>(row.report.finish) / 1e6,
      bus_bandwidth(request, ranks, row.report.finish), row.report.messages, row.report.events,
      row.wall_us / 1e6, static_cast<double>(row.report.messages) / row.wall_us,
      row.idle_bytes / ranks, row.active_bytes / ranks, row.algorithm);
  std::fflush(stdout);
}

/// Memory that a child fills and its parent reads.
class SharedRow {
 public:
  SharedRow()
      : memory_(
            mmap(nullptr, sizeof(Row), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SharedRow() { munmap(memory_, sizeof(Row)); }
  SharedRow(const SharedRow&) = delete;
  SharedRow& operator=(const SharedRow&) = delete;
  Row& fresh() { return *::new (memory_) Row(); }

 private:
  void* memory_;
};

void run(const Options& options) {
  if (!options.json.empty()) check_writable(options.json);
  if (!options.slice.empty()) parse_slice(options.slice);  // before a process is made for each row
  const Collective collective = parse_collective(options.collective);
  const std::uint32_t ranks = options.cluster.ranks;
  Report report;
  SharedRow shared;
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.sizes) sizes.push_back(parse_bytes(size, kSizes));
  const std::vector<const Algorithm*> algorithms = parse_algorithms(options.algorithm, collective);
  print_head(options);
  std::size_t rows = 0;
  for (const std::uint64_t bytes : sizes)
    for (const Algorithm* algorithm : algorithms) {
      if (algorithm != nullptr && !algorithm->fits(*topology_of(options.cluster)) &&
          options.algorithm == "all")
        continue;
      const Request request = request_of(collective, bytes, ranks);
      Row& row = shared.fresh();
      simulate_apart(options, request, algorithm, row);
      if (row.error[0] != 0) throw std::runtime_error(row.error);
      print_row(row, request, ranks);
      report.add(as_json(row, request, ranks));
      ++rows;
    }
  if (rows == 0) throw std::runtime_error("no algorithm fits this cluster");
  if (!options.json.empty()) report.write(options.json);
}

}  // namespace

void add_sim(CLI::App& app) {
  auto* const sim = app.add_subcommand("sim", "a cluster that is not there, in virtual time");
  sim->require_subcommand(1);
  auto* const command = sim->add_subcommand("run", "one collective");
  const auto options = std::make_shared<Options>();
  command->add_option("collective", options->collective)->required();
  add_cluster_options(*command, options->cluster);
  command->add_option("-b,--bytes", options->sizes, "sizes of the block space, by commas")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--algo", options->algorithm, "a name, auto or all")->capture_default_str();
  command
      ->add_option("--channels", options->channels, "of the plan; with --algo auto at most so many")
      ->check(CLI::Range(1u, 64u));
  command->add_option("--slice", options->slice, "largest message; default 512K");
  command->add_option("--late-us", options->late_us, "ranks start up to so much later")
      ->check(check_time);
  command->add_option("--jitter-us", options->jitter_us, "messages take up to so much longer")
      ->check(check_time);
  command->add_option("--seed", options->seed)->check(check_number)->capture_default_str();
  command->add_option("--json", options->json, "write the rows to this file");
  command->callback([options] { run(*options); });
}

}  // namespace hocket::tools
