// SPDX-License-Identifier: Apache-2.0
// A process of ranks: the loop they share, the baton that says who drives it, and how everybody
// else waits. An object, so that a machine has one, a test has ten, and the simulator none at all
// (there the simulator drives the loop).
//
// Whoever holds the baton drives all communicators: first the thread inside a wait, because a hop
// to another thread costs 3-50 us where a driven exchange costs 0.1 us; else the progress thread,
// which lives in serve() and sleeps while nothing is pending or a caller drives. Waiting is spin,
// then yield, then naps of growing length: peers cannot ring, and cores may be oversubscribed.
//
// Threads: every function, any thread; `serve` from one. Ownership: borrows clock and doorbells;
// communicators are attached by whoever owns them and detached before they go.
// Failure: none of its own; waits end at their deadline. Cost: an uncontended wait takes the baton
// once; submissions and completions make no system call while a caller drives.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/communicator.h"
#include "world/clock.h"
#include "world/doorbell.h"

namespace hocket::engine {

class Process final : public Communicator::Listener {
 public:
  /// Two bells, since a caller's completion must not wake the progress thread.
  Process(world::Clock& clock, world::Doorbell& callers, world::Doorbell& progress);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Loop& loop() { return loop_; }
  Arena& arena() { return arena_; }
  void attach(Communicator& communicator);
  /// Runs until the communicator has nothing pending, which its ops' ends, deadline or abort bring
  /// about; then forgets it.
  void detach(Communicator& communicator);
  /// Has the progress thread look after what runs on streams, which no caller drives.
  void watch(Communicator& communicator, world::StreamDevice& device);

  /// Has a communicator that may be idle find out whether it has failed.
  void look(Communicator& communicator);
  /// After a submission or an abort: starts it now if nobody drives, else wakes who does.
  void kick();
  /// True once the op is done; false when `most` has passed first, and the op goes on.
  bool wait(const Op& op, Duration most);
  /// One turn if nobody else drives; then whether the op is done. Where ranks share cores it lets
  /// the others have this one for a moment, since callers ask in a loop.
  bool test(const Op& op);

  /// The progress thread's life, until stop().
  void serve();
  void stop();

 private:
  void op_ended(Communicator& communicator) override;
  bool turn();
  bool try_turn();
  bool work_left() const;
  void take_baton();
  void lay_down();
  bool drive_until_done(const Op& op, Instant until);
  bool take_if_left();
  void drive_all_work();
  void rest(world::Doorbell& bell, std::uint32_t rests);
  void refresh();
  /// Idle turns of a caller before it yields.
  std::uint32_t spins() const;

  world::Clock& clock_;
  world::Doorbell& callers_;
  world::Doorbell& progress_;
  Loop loop_;
  Arena arena_;
  Baton baton_;
  std::vector<Communicator*> communicators_;  // with the baton
  Instant now_;                               // with the baton: as of a few turns ago
  std::uint32_t turns_ = 0;
  Word crowded_;  // 1: there are more ranks than cores
  Word wanted_;   // threads that need the baton for attach and detach
  Word resting_;  // 1: the progress thread sleeps until rung, or is about to
  Word stopped_;
  Word watched_;  // communicators with a device
};

}  // namespace hocket::engine
