// SPDX-License-Identifier: Apache-2.0
#include "tools/hocket/prove.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "algo/table.h"
#include "plan/prove_all.h"

namespace hocket::tools {
namespace {

// What the threads share: one algorithm on all topologies, largest first.
struct Work {
  const Algorithm& algorithm;
  const std::vector<Topology>& topologies;
  std::mutex mutex;  // guards all below
  std::size_t left;
  ProofTally proven;
  std::optional<Error> error;
};

// One prover a thread, kept from algorithm to algorithm.
void prove_some(Work& work, Prover& prover) {
  std::unique_lock lock(work.mutex);
  while (work.left > 0 && !work.error) {
    const Topology& topology = work.topologies[--work.left];
    lock.unlock();
    Result<ProofTally> tally = prove_on(prover, work.algorithm, topology);
    lock.lock();
    if (!tally) {
      if (!work.error) work.error = std::move(tally).error();
    } else {
      work.proven += tally.value();
    }
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Provers {
 public:
  Provers(std::uint32_t threads, std::uint32_t max_ranks)
      : topologies_(topologies_to_prove(max_ranks)), provers_(threads) {}

  /// Proves one row and prints its line; false if it is not all right.
  bool prove(const Algorithm& algorithm);
  void print_total(std::size_t rows, std::size_t wrong) const;

 private:
  std::vector<Topology> topologies_;
  std::vector<Prover> provers_;
  ProofTally proven_, wanted_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool Provers::prove(const Algorithm& algorithm) {
  const auto start = std::chrono::steady_clock::now();
  Work work{algorithm, topologies_, {}, topologies_.size(), {}, {}};
  std::vector<std::thread> threads;
  for (Prover& prover : provers_) threads.emplace_back([&] { prove_some(work, prover); });
  for (std::thread& thread : threads) thread.join();

  const ProofTally& proven = work.proven;
  ProofTally wanted;
  std::size_t fitting = 0;
  for (const Topology& topology : topologies_) {
    wanted += plans_to_prove(algorithm, topology);
    if (should_fit(algorithm, topology)) ++fitting;
  }
  proven_ += proven;
  wanted_ += wanted;
  fmt::print("{:<15}{:<45}{:>6}{:>9}{:>13}{:>12}{:>11}{:>9.1f}\n", name_of(algorithm.collective),
             algorithm.name, fitting, proven.plans, proven.exchanges, proven.messages,
             proven.entries, seconds_since(start));
  std::string wrong;
  if (work.error) {
    wrong = work.error->message();
  } else if (proven.plans != wanted.plans || proven.exchanges != wanted.exchanges) {
    wrong = fmt::format("the lists have {} plans and {} exchanges", wanted.plans, wanted.exchanges);
  } else if (algorithm.scratch && !proven.uses_scratch && topologies_.back().world() > 3) {
    wrong = "claims scratch, which no plan uses";
  }
  if (!wrong.empty()) fmt::print("WRONG: {}\n", wrong);
  std::fflush(stdout);
  return wrong.empty();
}

void Provers::print_total(std::size_t rows, std::size_t wrong) const {
  fmt::print("{} rows; plans {} of {}, exchanges {} of {}, messages {}: {} in {:.0f} s\n", rows,
             proven_.plans, wanted_.plans, proven_.exchanges, wanted_.exchanges, proven_.messages,
             wrong == 0 ? "all proven" : fmt::format("{} rows WRONG", wrong),
             seconds_since(start_));
}

/// Else says which there are.
bool exists(const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& algorithm : algo::algorithms(static_cast<Collective>(c))) {
      if (name == "all" || name == algorithm.name) return true;
      if (std::find(names.begin(), names.end(), algorithm.name) == names.end())
        names.emplace_back(algorithm.name);
    }
  fmt::print(stderr, "--algo: no algorithm is named '{}'; all or one of {}\n", name,
             fmt::join(names, ", "));
  return false;
}

}  // namespace

int run_prove(const ProveOptions& options) {
  if (!exists(options.algorithm)) return 1;
  const std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1u);
  Provers provers(options.threads == 0 ? cores : options.threads, options.max_ranks);
  fmt::print("{:<15}{:<45}{:>6}{:>9}{:>13}{:>12}{:>11}{:>9}\n", "collective", "algorithm", "topos",
             "plans", "exchanges", "messages", "entries", "seconds");
  std::size_t rows = 0, wrong = 0;
  for (std::size_t c = 0; c < kCollectives; ++c)
    for (const Algorithm& algorithm : algo::algorithms(static_cast<Collective>(c))) {
      if (options.algorithm != "all" && options.algorithm != algorithm.name) continue;
      ++rows;
      if (!provers.prove(algorithm)) ++wrong;
    }
  provers.print_total(rows, wrong);
  return wrong == 0 ? 0 : 1;
}

void add_prove(CLI::App& app) {
  auto* const command = app.add_subcommand(
      "prove", "prove the plans of every algorithm: right for every timing, free of deadlock");
  const auto options = std::make_shared<ProveOptions>();
  command->add_option("--algo", options->algorithm, "a name, or all")->capture_default_str();
  command->add_option("--max-ranks", options->max_ranks, "largest world")
      ->check(CLI::Range(1u, kMostProvenRanks))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "default: one a core")
      ->check(CLI::Range(1u, 256u));
  command->callback([options] {
    if (const int status = run_prove(*options); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace hocket::tools
