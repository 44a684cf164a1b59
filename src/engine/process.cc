// SPDX-License-Identifier: Apache-2.0
#include "engine/process.h"

#include <algorithm>

namespace hocket::engine {
namespace {

// How a driver waits when nothing moves. A turn is some 40 ns, a yield 300 ns when the core has no
// other work. Naps double from the first to the longest.
constexpr std::uint32_t kSpins = 64, kYields = 4096, kTurnsPerClock = 64;
constexpr Duration kFirstNap = microseconds(50), kLongestNap = milliseconds(1);
// The progress thread, while ops keep coming and callers drive them; and how many such naps without
// any work make it rest until rung.
constexpr Duration kLook = microseconds(200);
constexpr std::uint32_t kLooks = 500;
// A passive waiter looks again now and then, in case the driver went away in silence.
constexpr Duration kLongestWait = milliseconds(10);

}  // namespace

Process::Process(world::Clock& clock, world::Doorbell& callers, world::Doorbell& progress)
    : clock_(clock), callers_(callers), progress_(progress), now_(clock.now()) {}

Process::~Process() { CHECK(communicators_.empty(), "a process ended before its communicators"); }

void Process::attach(Communicator& communicator) {
  take_baton();
  communicators_.push_back(&communicator);
  lay_down();
}

void Process::detach(Communicator& communicator) {
  take_baton();
  std::uint32_t idle = 0;
  while (communicator.pending() > 0) {
    idle = turn() ? 0 : idle + 1;
    rest(callers_, idle);
  }
  turn();  // an abort may still be in the mail
  std::erase(communicators_, &communicator);
  lay_down();
}

void Process::kick() {
  if (wanted_.load() == 0 && baton_.try_take()) {
    turn();
    return lay_down();
  }
  callers_.ring();
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
  if (!op.done()) kick();
  return op.done();
}

bool Process::drive_until_done(const Op& op, Instant until) {
  std::uint32_t idle = 0;
  while (!op.done() && wanted_.load() == 0) {
    idle = turn() ? 0 : idle + 1;
    if (idle % kTurnsPerClock == kTurnsPerClock - 1 && refresh() >= until) return true;
    if (!op.done()) rest(callers_, idle);
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
      rest(progress_, idle);
      if (!baton_.try_take()) return;
    }
  }
  lay_down();
}

void Process::serve() {
  std::uint32_t looks = 0;
  while (stopped_.load() == 0) {
    if (wanted_.load() == 0 && baton_.try_take()) {
      if (work_left()) {
        looks = 0;
        drive_all_work();
        continue;
      }
      lay_down();
    }
    const bool tired = ++looks > kLooks;
    const std::uint32_t ticket = progress_.ticket();
    resting_.store(tired);
    if (stopped_.load() == 0) progress_.wait(ticket, tired ? seconds(1) : kLook);
    resting_.store(0);
  }
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

Instant Process::refresh() { return now_ = clock_.now(); }

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
  if (left && resting_.load() != 0) progress_.ring();
}

void Process::rest(world::Doorbell& bell, std::uint32_t idle_turns) {
  if (idle_turns < kSpins) return;
  if (idle_turns < kSpins + kYields) return bell.yield();
  const std::uint32_t naps = std::min(idle_turns - kSpins - kYields, 10u);
  const std::uint32_t ticket = bell.ticket();
  if (loop_.has_mail()) return;
  bell.wait(ticket, std::min(Duration{kFirstNap.ns << naps}, kLongestNap));
}

}  // namespace hocket::engine
