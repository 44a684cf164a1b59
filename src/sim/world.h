// SPDX-License-Identifier: Apache-2.0
// The whole world below the engine, in virtual time: one thread, one seed, up to 131,072 ranks. The
// engine that runs in it is the one that runs on machines and cannot tell. Whoever composes
// (scenario/, tests) makes a SimWorld, gives each rank's engine its world(rank) and the one Loop,
// says when ranks start and which crash, and calls run.
// Threads: one. Ownership: the engines, their buffers and the device that moves bytes stay until
// the SimWorld has gone... they hold references into it, so they go first. Failure: none of its
// own; a run ends when nothing is left to happen, and ranks that are still waiting then wait for
// what nobody will do. Cost: docs/decisions and README.md have figures; 192 bytes an idle rank.
#pragma once
#include <cstdint>
#include <memory>

#include "async/loop.h"
#include "base/arena.h"
#include "sim/sim_rank.h"
#include "sim/state.h"
#include "world/clock.h"
#include "world/random.h"
#include "world/trace_sink.h"
#include "world/world.h"

namespace hocket::sim {

/// What the composer does for its ranks when SimWorld says so.
class Driver {
 public:
  /// The rank's time to start has come: submits its ops.
  virtual void start(Rank rank) = 0;
  /// The rank may have failed: looks (Communicator::poll).
  virtual void look(Rank rank) = 0;
  /// The rank's turn will come soon (Queue::run): may have the caches fetch its state.
  virtual void approach(Rank rank, std::uint32_t lead) {
    static_cast<void>(rank);
    static_cast<void>(lead);
  }
  /// Some ten thousand events more have been served, and it is that time.
  virtual void served(Picoseconds time) { static_cast<void>(time); }

 protected:
  ~Driver() = default;
};

struct Report {
  Picoseconds finish = 0;      ///< when the last rank came to rest
  std::uint64_t messages = 0;  ///< written
  std::uint64_t events = 0;    ///< served
  std::uint64_t hash = 0;      ///< of all arrivals in their order
};

class SimWorld {
 public:
  SimWorld(std::shared_ptr<const Topology> topology, const Options& options);

  world::World world(Rank rank);
  Loop& loop() { return loop_; }
  world::Random& random() { return random_; }
  /// How often the engines recorded each kind of event.
  std::uint64_t traced(trace::Kind kind) const {
    return trace_.counts[static_cast<std::size_t>(kind)];
  }
  std::size_t arena_bytes() const { return arena_.reserved_bytes(); }

  /// Before run, or from within it: not earlier than the present.
  void start_at(Rank rank, Picoseconds time);
  /// The rank stops. Its messages under way arrive; the others learn of it `detection` later.
  void crash_at(Rank rank, Picoseconds time);
  /// The rank goes in good order, now; links to it say so `detection` later.
  void leave(Rank rank);
  /// Serves what is due next: a timer, or a window of events; false when nothing is left.
  bool step(Driver& driver);
  /// Steps until nothing is left. May be called again.
  Report run(Driver& driver);

 private:
  static constexpr std::uint32_t kLeads = 4;
  struct Approached {  // ranks of one node that are still to be approached
    std::uint32_t next = 0, end = 0;
  };
  struct VirtualClock final : world::Clock {
    explicit VirtualClock(const State& s) : state(s) {}
    Instant now() override { return {static_cast<std::int64_t>(state.now / 1'000)}; }
    const State& state;
  };
  struct SeededRandom final : world::Random {
    explicit SeededRandom(std::uint64_t seed) : prng(seed) {}
    Result<void> fill(Bytes target) override;
    Prng prng;
  };
  struct Counters final : world::TraceSink {
    void record(const trace::Event& event) override {
      ++counts[static_cast<std::size_t>(event.kind)];
    }
    std::uint64_t counts[trace::kKinds] = {};
  };

  void serve(const Event& event, Driver& driver);
  void approach(std::uint32_t node, std::uint32_t lead, Driver& driver);
  void approach(Rank rank, std::uint32_t lead, Driver& driver) const;
  void approach_one(Driver& driver);
  void turn(Rank rank, Turn what, Driver& driver);
  void expire(Picoseconds time);
  void settle();

  State state_;
  Loop loop_;
  Arena arena_;
  VirtualClock clock_;
  SeededRandom random_;
  Counters trace_;
  Approached approached_[kLeads];  // by lead
  std::uint32_t lead_ = 0;         // of the rank that was approached last
  Picoseconds finish_ = 0, served_until_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace hocket::sim
