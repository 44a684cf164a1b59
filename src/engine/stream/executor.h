// SPDX-License-Identifier: Apache-2.0
// The stream executor: what one rank enqueues for the ops of its communicator. It runs in the
// calling thread and never blocks; once it has returned, no thread of ours has anything to do with
// the op. That is the invariant of streams (design, section 4.1) by construction: nothing that a
// user's stream waits for is submitted later than the wait, as all of it is submitted here.
//
// All ranks plan alike: selection, lowering and grid follow from the request and from what ranks
// agreed on when they met. Every action carries the op's signature, so ranks that call different
// things hear of it.
//
// Threads: any; nothing here changes. Ownership: borrows the device. Failure: unsupported before
// anything is enqueued; then what the device says, which also tells why an op that runs has failed.
// Cost: some 100 ns before the launches.
#pragma once
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "engine/communicator.h"
#include "engine/stream/lower.h"
#include "engine/stream/rounds.h"
#include "engine/stream/transfers.h"
#include "world/stream_device.h"

namespace hocket::engine::stream {

/// What is enqueued for an op: the swaps of a plan, its rounds, or messages.
using Prepared = std::variant<Actions, std::vector<world::Transfers>, world::Transfers>;

class Executor {
 public:
  /// The config's tuning is one for streams (algo::Agreed::on_streams).
  Executor(std::shared_ptr<const Config> config, Rank me, world::StreamDevice& device)
      : config_(std::move(config)), me_(me), device_(device) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// What can fail because of the call: nothing is enqueued yet.
  Result<Prepared> prepare(const Call& call) const;
  /// The same of a group's sends and receives.
  Result<Prepared> prepare(std::span<const Call> messages) const;
  /// The rest.
  Result<void> enqueue(world::Stream stream, const Prepared& prepared);

  /// How an op would be carried out.
  struct Way {
    Plan plan;
    std::uint64_t part_bytes = 0;  ///< of the largest part that a rank sends another
    Limits limits = {};
    Manner manner = {};
    /// No swap: a launch a round, and no part, limit or lowering.
    bool by_rounds() const { return plan.algorithm->pattern == Pattern::none; }
  };
  Result<Way> way(const Request& request, const Algorithm* forced = nullptr) const;
  /// The same of a message.
  world::Lowering lowering_of(std::uint64_t message) const { return device_.lowering_of(message); }
  const Config& config() const { return *config_; }

 private:
  Result<Prepared> prepare_rounds(const Call& call, const Way& way) const;

  const std::shared_ptr<const Config> config_;
  const Rank me_;
  world::StreamDevice& device_;
};

}  // namespace hocket::engine::stream
