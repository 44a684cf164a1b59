// SPDX-License-Identifier: Apache-2.0
// One rank's part of a communicator: numbers the ops that the user submits, plans them, runs them
// one after another in that order, and fails as a whole. What all ranks share (topology, tuning,
// options) is one immutable Config, so that 131,072 simulated ranks cost little more than this
// object: some 200 bytes.
//
// Threads: "any" functions take the submit lock for a moment; the others are for whoever holds the
// process's baton. Ownership: borrows world, loop and listener; owns its ops. Failure: the first
// one is final: the running op and all later ones end with it; every rank names the same culprit.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "algo/select.h"
#include "engine/op.h"
#include "world/stream_device.h"

namespace hocket::engine {

struct Config {
  std::shared_ptr<const Topology> topology;
  std::shared_ptr<const algo::Tuning> tuning;
  Duration op_timeout = kForever;  ///< an op's own deadline, from its start
  std::uint16_t channels = 4;      ///< most of any plan, as agreed; send / recv has the one above
};

class Communicator final : private Mail {
 public:
  class Listener {
   public:
    /// An op of this communicator is done; told by whoever holds the baton.
    virtual void op_ended(Communicator& communicator) = 0;

   protected:
    ~Listener() = default;
  };

  /// What it is put together from; all but the config are borrowed.
  struct Parts {
    world::World world;
    Loop& loop;
    Listener& listener;
    std::shared_ptr<const Config> config;
    Rank me;
  };

  explicit Communicator(Parts parts);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Any thread.
  Rank me() const { return me_; }
  const Config& config() const { return *config_; }
  std::uint32_t size() const { return config_->topology->world(); }
  /// One op made of one call, or of a group's calls in their order. It starts when a driver turns
  /// the loop. Fails with invalid_argument (naming call and value), or with the communicator's
  /// failure. The op is the caller's until release.
  Result<Op*> submit(std::span<const Call> calls);
  /// The same in two steps, for ops of several communicators of which all or none are submitted:
  /// what can fail, and the rest. What is not committed is discarded.
  Result<Op*> prepare(std::span<const Call> calls);
  void commit(Op& op);
  void discard(Op& op);
  /// Gives a done op back.
  void release(Op& op);
  /// The failure of the communicator, or nothing.
  std::optional<Error> failure() const;
  /// Fails the communicator on all ranks, soon; `reason` is told to the user.
  void abort(std::string reason);
  /// Ops submitted and not done.
  std::uint32_t pending() const {
    const std::uint32_t ended = count_.ended.load();  // first, lest it be of later ones
    return count_.submitted.load() - ended;
  }
  /// Ops that callers have and have not given back.
  std::uint32_t held() const;

  // Whoever holds the baton.
  /// From now on a failure of that device is the communicator's, and the other way round.
  void watch(world::StreamDevice& device) { streams_ = &device; }
  bool watches() const { return streams_ != nullptr; }
  const world::World& world() const { return world_; }
  Loop& loop() { return loop_; }
  /// Looks for arrivals, and for failures when nothing came; true if anything moved.
  bool poll();
  /// Looks for a failure where poll() only does now and then.
  void look();

  /// Has the caches fetch what the running op works with, for a simulator of many ranks: one
  /// pointer further with `lead` 3, 2, 1 and 0.
  void prefetch(std::uint32_t lead) const;

  // For Op.
  void enqueue(Op& op);
  void op_ended(Op& op);
  void op_timed_out(Op& op);
  /// Publishes an error found here, in that Op::entry(); what comes back is what all ranks agree
  /// on.
  Error agree(Error mine, OpSeq entry);

 private:
  void delivered() override;  // abort
  void advance(Instant now);
  void fail(const Error& error);
  bool look_for_failure();
  bool take_over(const std::optional<world::Failure>& failure);
  void end_with_failure();
  void keep_failure(const Error& error);
  struct Count {             // of ops
    Word submitted;          // stored under the submit lock
    Word ended;              // stored by whoever holds the baton
    std::uint32_t held = 0;  // under the submit lock
  };
  struct Facts {  // what an event says, by its kind (trace/event.h)
    std::uint64_t a;
    std::uint32_t b;
  };
  void record(const Op& op, trace::Kind kind, Instant at, Facts facts);
  Result<void> start(Op& op, Instant now);
  Error error_of(const world::Failure& failure) const;
  void post(Op& op);
  Result<Op*> take_op();

  Op *running_ = nullptr, *first_ = nullptr, *newest_ = nullptr;
  const world::World world_;
  Loop& loop_;
  Listener& listener_;
  const std::shared_ptr<const Config> config_;
  const Rank me_;
  mutable Baton submit_lock_;
  world::StreamDevice* streams_ = nullptr;
  bool advancing_ = false;
  struct Numbers {
    OpSeq last;     // under the submit lock, like pool_
    OpSeq entered;  // of the ops that have started
  } numbers_;
  Op* pool_ = nullptr;
  Bytes scratch_;
  std::optional<Error> failure_;        // written under the submit lock
  std::optional<std::string> aborted_;  // why; under the submit lock
  Count count_;
};

}  // namespace hocket::engine
