// SPDX-License-Identifier: Apache-2.0
// A collective, by the real engine, on a simulated cluster: composes engine and sim. `hocket sim
// run` prints its rows; tests give it memory, late ranks, crashes and deadlines.
// Threads: one. Ownership: borrows buffers and the device that moves bytes; owns world and engines.
// Failure: what ranks' ops end with is told in the outcome; setting up fails with invalid_argument.
// Cost: as in sim/README.md.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algo/select.h"
#include "base/result.h"
#include "engine/communicator.h"
#include "sim/world.h"

namespace hocket::scenario {

struct Crash {
  Rank rank;
  Picoseconds at = 0;
};

/// Told how far a run has come, many times a second.
class Progress {
 public:
  virtual void passed(Picoseconds virtual_time) = 0;

 protected:
  ~Progress() = default;
};

struct RunOptions {
  std::shared_ptr<const algo::Tuning> tuning;  ///< topology, rules, and costs of both worlds
  Request request;                             ///< of all; send_recv: from rank 0 to its root
  std::uint32_t ops = 1;                       ///< so many, one after another
  Picoseconds late = 0;                        ///< ranks start up to so much later, by seed
  Duration op_timeout = kForever;
  std::vector<Crash> crashes;
  sim::Options sim;  ///< costs are the tuning's
  /// One per rank, where payloads are real (then sim.bytes moves them); else empty.
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  Progress* progress = nullptr;
};

struct Outcome {
  sim::Report report;
  std::uint32_t done = 0;        ///< ops that ended well
  std::uint32_t unfinished = 0;  ///< ops that nobody will end
  std::vector<Error> errors;     ///< of the others, in the order in which ranks started
};

class Run final : private sim::Driver, private engine::Communicator::Listener {
 public:
  static Result<std::unique_ptr<Run>> make(const RunOptions& options);
  explicit Run(const RunOptions& options);  ///< for make

  const algo::Choice& choice() const { return choice_; }
  /// Until nothing is left to happen. Once.
  Outcome run();

 private:
  void start(Rank rank) override;
  void look(Rank rank) override { ranks_[rank.value]->poll(); }
  void approach(Rank rank, std::uint32_t lead) override { ranks_[rank.value]->prefetch(lead); }
  void served(Picoseconds time) override {
    if (options_.progress != nullptr) options_.progress->passed(time);
  }
  void op_ended(engine::Communicator&) override {}

  const RunOptions options_;
  algo::Choice choice_;
  sim::SimWorld world_;
  std::vector<std::optional<engine::Communicator>> ranks_;  // all there are; they do not move
  std::vector<engine::Op*> ops_;
  Outcome outcome_;
};

}  // namespace hocket::scenario
