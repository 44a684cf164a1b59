// SPDX-License-Identifier: Apache-2.0
// What Event, Semaphore and Queue have in common: a suspended coroutine in a list of such, with a
// deadline and a token. Exactly one of three things ends a wait: it is granted, its deadline
// passes, its token is cancelled. Each takes it out of everything and posts it to the Loop, so it
// goes on in the next turn, in the order in which waits ended, and never inside its waker. A wait
// that was granted keeps what it got even if it is cancelled before it goes on.
// Threads: one at a time. Ownership: a wait lives in its coroutine's frame; what it waits for
// outlives it. Failure: timeout or cancelled, naming what was waited for.
// Cost: some 150 bytes in the frame; nothing is allocated unless it fails.
#pragma once
#include <coroutine>
#include <cstdint>

#include "async/cancel.h"
#include "async/loop.h"
#include "base/list.h"
#include "base/result.h"

namespace hocket {

/// How long to wait. A named local where it is passed to what is awaited (docs/STYLE.md).
struct Until {
  const char* what;  ///< words for the error: "waited for the parent's table"; outlives the wait
  Instant deadline = kNever;
  CancelToken token = {};
};

/// Base of the awaitables; each adds await_ready and await_resume.
class [[nodiscard]] Wait : public ListItem<Wait>, private Timer, private CancelHook {
 public:
  Wait(Loop& loop, List<Wait>& waits, const Until& until)
      : loop_(loop), waits_(waits), until_(until) {}

  void await_suspend(std::coroutine_handle<> handle);
  /// It has what it waited for. Called by what is waited for, while suspended.
  void grant() { end(Outcome::granted); }

 protected:
  ~Wait() = default;
  /// Whether it is cancelled before it starts: then it fails even if it could be granted at once.
  bool cancelled_early();
  Result<void> outcome() const;

 private:
  enum class Outcome : std::uint8_t { granted, timeout, cancelled };
  void expired() override { end(Outcome::timeout); }
  void cancelled() override { end(Outcome::cancelled); }
  void end(Outcome outcome);

  Loop& loop_;
  List<Wait>& waits_;
  const Until until_;
  std::coroutine_handle<> handle_;
  Outcome outcome_ = Outcome::granted;
};

}  // namespace hocket
