// SPDX-License-Identifier: Apache-2.0
// One submitted op of one rank: its works, and the lanes that carry them out. A collective has one
// lane per channel; the send / recv calls of a group have one lane per peer, beside those. An op
// goes through phases: divide inputs (avg of floats), rounds, divide outputs (avg of integers);
// most ops have only the middle one.
//
// Threads: built by the submitting thread, which has it for itself; run by whoever holds the baton;
// anyone may ask `done`, and `error` once done. Ownership: the communicator's pool; the submitter
// keeps it until release. Failure: the first error ends all lanes; the op is done only
// when no coroutine of it is left. Cost: about 2 KB with frames, for one channel.
#pragma once
#include <coroutine>
#include <cstdint>
#include <optional>
#include <vector>

#include "async/loop.h"
#include "async/scope.h"
#include "base/array.h"
#include "engine/work.h"
#include "world/world.h"

namespace hocket::engine {

class Communicator;
class Op;

/// What the sender and the receiver of one lane share. The waiters live here, not in the frames, so
/// that a failing op finds what it must wake.
struct Lane {
  Op* op = nullptr;
  Work* works = nullptr;
  std::uint32_t number = 0;        ///< runs pieces number, number + channels, ... of each work
  std::uint32_t received = 0;      ///< rounds whose arrivals are complete, over works and pieces
  std::uint32_t needed = 0;        ///< how many the parked sender waits for
  std::coroutine_handle<> sender;  ///< parked until `needed` rounds are received
  world::Waiter send, receive;

  void round_received();
};

class Op final : public Mail, private Scope::Owner, private Timer {
 public:
  explicit Op(Communicator& communicator) : communicator_(communicator), scope_(*this) {}

  // Any thread.
  bool done() const { return done_.load() != 0; }
  /// Once done: null, or why it failed.
  const Error* error() const { return error_ ? &*error_ : nullptr; }
  OpSeq seq() const { return seq_; }  ///< among this rank's submissions
  Array<Work>& works() { return works_; }
  Communicator& communicator() { return communicator_; }

  // Whoever holds the baton.
  const world::World& world() const;
  Arena& arena() { return world().arena; }
  Rank me() const;
  bool failed() const { return error_.has_value(); }
  /// kOk, or cancelled once the op has failed: what every wait of a lane returns.
  Result<void> verdict() const {
    if (!failed()) [[likely]]
      return kOk;
    return cancelled();
  }
  /// Messages that are not staged land in the peer's output: the op is one collective.
  bool lands() const { return outline_.lands; }
  /// Its number among the ops that all ranks enter: those with a collective. Sends and receives
  /// alone have none (0), since only two ranks know of them.
  OpSeq entry() const { return entry_; }
  /// Enters the op and starts its first phase.
  void start(Bytes scratch, Instant deadline);
  /// The first error wins; parked lanes wake and end. The op may be done when this returns.
  void fail(Error error);
  /// For Communicator::prefetch.
  void prefetch(std::uint32_t lead) const;
  /// The peers that lanes are parked for, each once.
  std::vector<Rank> waiting_for() const;

 private:
  friend class Communicator;
  friend class OpBuilder;
  enum class Phase : std::uint8_t { queued, scaling, rounds, dividing };
  struct Outline {  // what follows from its calls, for as long as they are the same
    bool lands = true, enters = true;
    bool scales = false, divides = false;  // has such phases
    bool selected = false;                 // of one call that named no algorithm
    std::uint64_t scratch_bytes = 0;
  };

  void delivered() override;
  void expired() override;
  void child_failed(Error error) override;
  void children_ended() override;
  static Error cancelled();
  void lay_out(Bytes scratch);
  Result<void> join_others();
  void enter(Phase phase);
  void run_lanes();
  void end();

  Communicator& communicator_;
  Scope scope_;
  Array<Work> works_;  // up to outline_: what lanes look at
  Array<Lane> lanes_;
  std::optional<Error> error_;
  Outline outline_;
  OpSeq seq_, entry_;
  Instant submitted_;
  Op* next_ = nullptr;  // in the communicator's queue or pool
  Phase phase_ = Phase::queued;
  Word done_;
};

}  // namespace hocket::engine
