// SPDX-License-Identifier: Apache-2.0
#include "scenario/run.h"

#include <string>
#include <utility>

#include "base/prng.h"

namespace hocket::scenario {
namespace {

sim::Options with_costs(sim::Options options, const Costs& costs) {
  options.costs = costs;
  return options;
}

}  // namespace

Result<std::unique_ptr<Run>> Run::make(const RunOptions& options) {
  const std::uint32_t world = options.tuning->agreed().topology->world();
  for (const Crash& crash : options.crashes)
    if (crash.rank.value >= world)
      return Error(Code::invalid_argument, "rank " + std::to_string(crash.rank.value) +
                                               " is to crash in a world of " +
                                               std::to_string(world));
  TRY(const algo::Choice choice, algo::select(*options.tuning, options.request));
  auto run = std::make_unique<Run>(options);
  run->choice_ = choice;
  return run;
}

Run::Run(const RunOptions& options)
    : options_(options),
      world_(options.tuning->agreed().topology,
             with_costs(options.sim, options.tuning->agreed().costs)),
      ranks_(options.tuning->agreed().topology->world()) {
  const algo::Agreed& agreed = options.tuning->agreed();
  engine::Config config;
  config.topology = agreed.topology;
  config.tuning = options.tuning;
  config.op_timeout = options.op_timeout;
  config.channels = static_cast<std::uint16_t>(agreed.channels);
  const auto shared = std::make_shared<const engine::Config>(std::move(config));
  Prng random(options.sim.seed);
  for (std::uint32_t i = 0; i < agreed.topology->world(); ++i) {
    const Rank rank{i};
    ranks_[i].emplace(
        engine::Communicator::Parts{world_.world(rank), world_.loop(), *this, shared, rank});
    world_.start_at(rank, options.late > 0 ? random.below(options.late) : 0);
  }
  for (const Crash& crash : options.crashes) world_.crash_at(crash.rank, crash.at);
}

Outcome Run::run() {
  outcome_.report = world_.run(*this);
  for (engine::Op* op : ops_) {
    if (!op->done()) {
      ++outcome_.unfinished;
      continue;
    }
    if (op->error() != nullptr) {
      outcome_.errors.push_back(op->error()->clone());
    } else {
      ++outcome_.done;
    }
    op->communicator().release(*op);
  }
  return std::move(outcome_);
}

void Run::start(Rank rank) {
  engine::Call call;
  call.request = options_.request;
  if (call.request.collective == Collective::send_recv) {
    const Rank receiver = call.request.root;
    if (rank != Rank{0} && rank != receiver) return;
    call.request.sends = rank == Rank{0};
    call.request.root = rank == Rank{0} ? receiver : Rank{0};
  }
  if (!options_.inputs.empty()) call.input = options_.inputs[rank.value];
  if (!options_.outputs.empty()) call.output = options_.outputs[rank.value];
  for (std::uint32_t i = 0; i < options_.ops; ++i) {
    Result<engine::Op*> op = ranks_[rank.value]->submit({&call, 1});
    if (op) {
      ops_.push_back(*op);
    } else {
      outcome_.errors.push_back(std::move(op).error());
    }
  }
}

}  // namespace hocket::scenario
