// SPDX-License-Identifier: Apache-2.0
#include "engine/process.h"

#include <algorithm>

namespace hocket::engine {
namespace {

// How a driver waits when nothing moves. A turn is some 40 ns, a yield 300 ns when the core has no
// other work. Naps double from the first to the longest.
constexpr std::uint32_t kSpins = 64, kYields = 4096, kTurnsPerClock = 64;
// While every rank of the machine has a core of its own a waiting caller keeps its core for longer:
// what it waits for is being done on another one, and a yield may cost a time slice.
constexpr std::uint32_t kPatientSpins = 8192;
constexpr Duration kFirstNap = microseconds(50), kLongestNap = milliseconds(1);
// The progress thread, while ops keep coming and callers drive them; and how many such naps without
// any work make it rest until rung.
constexpr Duration kLook = microseconds(200);
constexpr std::uint32_t kLooks = 500;
constexpr Duration kLongestRest = seconds(1);
// While ops may be on streams, where nobody else would learn that a peer has died.
constexpr Duration kWatch = milliseconds(100);
// A passive waiter looks again now and then, in case the driver went away in silence.
constexpr Duration kLongestWait = milliseconds(10);

}  // namespace

Process::Process(world::Clock& clock, world::Doorbell& callers, world::Doorbell& progress)
    : clock_(clock), callers_(callers), progress_(progress), now_(clock.now()) {}

Process::~Process() { CHECK(communicators_.empty(), "a process ended before its communicators"); }

void Process::attach(Communicator& communicator) {
  take_baton();
  communicators_.push_back(&communicator);
  if (communicator.size() > callers_.cores()) crowded_.store(1);
  lay_down();
}

void Process::detach(Communicator& communicator) {
  take_baton();
  std::uint32_t idle = 0;
  while (communicator.pending() > 0) {
    idle = turn() ? 0 : idle + 1;
    if (idle < spins()) continue;
    rest(callers_, idle - spins());
    refresh();
  }
  turn();  // an abort may still be in the mail
  if (std::erase(communicators_, &communicator) > 0 && communicator.watches()) watched_.add(~0u);
  lay_down();
}

void Process::watch(Communicator& communicator, world::StreamDevice& device) {
  take_baton();
  communicator.watch(device);
  watched_.add(1);
  lay_down();
}

// Who drives polls all communicators, and so finds out by and by.
void Process::look(Communicator& communicator) {
  kick();
  if (wanted_.load() != 0 || !baton_.try_take()) return;
  communicator.look();
  lay_down();
}

// A driver may be about to lay the baton down and have looked for mail already. It rings after it
// has laid it down and then looks again; we ring and then try again: of two who ring, the second
// one sees what the first did before.
void Process::kick() {
  if (try_turn()) return;
  callers_.ring();
  try_turn();
}

bool Process::try_turn() {
  if (wanted_.load() != 0 || !baton_.try_take()) return false;
  turn();
  lay_down();
  return true;
}

bool Process::wait(const Op& op, Duration most) {
  const Instant until = most == kForever ? kNever : clock_.now() + most;
  while (!op.done()) {
    if (wanted_.load() == 0 && baton_.try_take()) {
      const bool time_is_up = drive_until_done(op, until);
      lay_down();
      if (time_is_up) return op.done();
      continue;
    }
    const std::uint32_t ticket = callers_.ticket();
    if (op.done()) break;
    const Duration left = until - clock_.now();
    if (left <= Duration{0}) return op.done();
    callers_.wait(ticket, std::min(left, kLongestWait));
  }
  return true;
}

bool Process::test(const Op& op) {
  if (op.done()) return true;
  kick();
  if (!op.done() && crowded_.load() != 0) callers_.yield();
  return op.done();
}

bool Process::drive_until_done(const Op& op, Instant until) {
  std::uint32_t idle = 0;
  while (!op.done() && wanted_.load() == 0) {
    idle = turn() ? 0 : idle + 1;
    if (now_ >= until) return true;
    if (op.done() || idle < spins()) continue;
    rest(callers_, idle - spins());
    refresh();
  }
  return false;
}

// The progress thread drives only what no caller drives.
void Process::drive_all_work() {
  std::uint32_t idle = 0;
  while (work_left() && wanted_.load() == 0 && stopped_.load() == 0) {
    idle = turn() ? 0 : idle + 1;
    if (idle >= kSpins) {  // let a caller take over, who has better reasons to spin
      lay_down();
      rest(progress_, idle - kSpins);
      if (!baton_.try_take()) return;
      refresh();
    }
  }
  lay_down();
}

// It says that it rests before it looks for work once more, and who leaves work looks whether it
// rests after having laid the baton down: one of the two sees the other.
void Process::serve() {
  std::uint32_t looks = 0;
  while (stopped_.load() == 0) {
    const bool tired = looks >= kLooks;
    const std::uint32_t ticket = progress_.ticket();
    if (tired) resting_.add(1);
    const bool found = take_if_left();
    const bool watches = watched_.load() != 0;
    if (!found && stopped_.load() == 0)
      progress_.wait(ticket, !tired ? kLook : watches ? kWatch : kLongestRest);
    if (tired) resting_.add(~0u);
    if (!found && watches) try_turn();
    if (found) drive_all_work();
    looks = found ? 0 : std::min(looks + 1, kLooks);
  }
}

/// Takes the baton; not if there is nothing to drive, or somebody else does.
bool Process::take_if_left() {
  if (wanted_.load() != 0 || !baton_.try_take()) return false;
  if (work_left()) return true;
  lay_down();
  return false;
}

void Process::stop() {
  stopped_.store(1);
  progress_.ring();
}

void Process::op_ended(Communicator&) { callers_.ring(); }

bool Process::turn() {
  if (++turns_ % kTurnsPerClock == 0) refresh();
  bool moved = loop_.turn(now_);
  for (Communicator* communicator : communicators_) moved |= communicator->poll();
  return moved;
}

void Process::refresh() { now_ = clock_.now(); }

std::uint32_t Process::spins() const { return crowded_.load() != 0 ? kSpins : kPatientSpins; }

bool Process::work_left() const {
  return loop_.has_mail() || std::any_of(communicators_.begin(), communicators_.end(),
                                         [](const Communicator* c) { return c->pending() > 0; });
}

void Process::take_baton() {
  wanted_.add(1);
  while (!baton_.try_take()) {
    callers_.ring();
    callers_.yield();
  }
  wanted_.add(~0u);
}

void Process::lay_down() {
  const bool left = work_left();
  baton_.lay_down();
  callers_.ring();
  if ((left || loop_.has_mail()) && resting_.add(0) != 0) progress_.ring();
}

/// `rests`: how many times it has been called in a row.
void Process::rest(world::Doorbell& bell, std::uint32_t rests) {
  if (rests < kYields) return bell.yield();
  const std::uint32_t naps = std::min(rests - kYields, 10u);
  const std::uint32_t ticket = bell.ticket();
  if (loop_.has_mail()) return;
  bell.wait(ticket, std::min(Duration{kFirstNap.ns << naps}, kLongestNap));
}

}  // namespace hocket::engine
