// SPDX-License-Identifier: Apache-2.0
// Where suspended coroutines wait for their turn: a first-in-first-out run queue, timers, and a
// mailbox through which other threads hand work over. One Loop serves everything in a process,
// and in the simulator one serves all ranks, in virtual time: the caller says what time it is and
// asks for the next deadline; the Loop knows no clock and never sleeps.
// Threads: one at a time, whoever holds the baton; `deliver` and `has_mail` from any thread.
// Ownership: borrows handles, timers and mail; whoever owns a frame keeps it until it has run.
// Cost: an empty turn is three loads; a steady state allocates nothing; order is deterministic.
#pragma once
#include <coroutine>
#include <vector>

#include "async/timer.h"
#include "base/mailbox.h"
#include "base/time.h"

namespace hocket {

/// What another thread hands to the Loop's driver; lives in whatever it is about.
class Mail {
 public:
  Mail* next_mail = nullptr;  ///< the mailbox's
  /// Called by the driver; the mail is the receiver's again, and may be destroyed in this call.
  virtual void delivered() = 0;

 protected:
  ~Mail() = default;
};

class Loop {
 public:
  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() { CHECK(idle(), "a loop ended before its work"); }

  /// Resumes the coroutine in the next turn, after all that were posted before it.
  void post(std::coroutine_handle<> handle) { ready_.push_back(handle); }
  /// Has the next turn call mail.delivered(). Whoever calls also wakes the driver.
  void deliver(Mail& mail) { mailbox_.push(mail); }

  /// Calls timer.expired() in the first turn at `at` or later; never when `at` is kNever.
  void add(Timer& timer, Instant at) { timers_.add(timer, at); }
  void remove(Timer& timer) { timers_.remove(timer); }

  /// Delivers mail, expires timers, then resumes what is in the queue by then; what comes up
  /// meanwhile waits for the next turn. True if anything ran. Not called from within a turn.
  bool turn(Instant now) {
    const bool mail = has_mail() && deliver_all();
    const bool timers = timers_.next() <= now && timers_.expire(now);
    const bool handles = !ready_.empty() && resume_all();
    return mail || timers || handles;
  }

  bool has_mail() const { return !mailbox_.empty(); }
  /// Nothing to do before next_deadline(), unless mail comes.
  bool idle() const { return ready_.empty() && !has_mail(); }
  /// When the earliest timer is due; kNever when there is none.
  Instant next_deadline() const { return timers_.next(); }

 private:
  bool deliver_all();
  bool resume_all();

  Mailbox<Mail> mailbox_;
  Timers timers_;
  std::vector<std::coroutine_handle<>> ready_;
  std::vector<std::coroutine_handle<>> running_;  // of this turn; kept for its capacity
};

}  // namespace hocket
