// SPDX-License-Identifier: Apache-2.0
// Timers that live inside whoever waits, in a pairing heap (Fredman, Sedgewick, Sleator, Tarjan,
// "The pairing heap: a new form of self-adjusting heap", 1986). Nearly all timers are deadlines
// that are removed long before they are due; the heap makes both ends of that O(1), allocates
// nothing, and knows the next instant exactly, which a timing wheel does not and virtual time
// needs. Equal instants expire in the order in which they were added, so that a run can be
// replayed. Threads: one at a time, whoever holds the baton. Ownership: borrows; a timer's owner
// keeps it in place while it is armed. Cost: 48 bytes a timer; add O(1), remove and expire O(log n)
// amortised.
#pragma once
#include <cstdint>

#include "base/check.h"
#include "base/time.h"

namespace hocket {

class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool armed() const { return sequence_ != 0; }
  /// Of an armed timer.
  Instant at() const { return at_; }

 protected:
  ~Timer() { CHECK(!armed(), "a timer ended while armed"); }

 private:
  friend class Timers;
  /// The instant has come; the timer is no longer armed. May arm it again, or destroy it.
  virtual void expired() = 0;

  Instant at_;
  std::uint64_t sequence_ = 0;  // order of adding, from 1; 0: not armed
  Timer* child_ = nullptr;
  Timer* next_ = nullptr;      // sibling
  Timer* previous_ = nullptr;  // sibling before, or the parent of a first child
};

class Timers {
 public:
  Timers() = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  ~Timers() { CHECK(root_ == nullptr, "timers ended before a timer that they hold"); }

  /// Arms a timer that is not armed. kNever leaves it as it is: it costs nothing.
  void add(Timer& timer, Instant at);
  /// Disarms; nothing happens when the timer is not armed.
  void remove(Timer& timer);
  /// When the earliest is due; kNever when there is none.
  Instant next() const { return root_ != nullptr ? root_->at_ : kNever; }
  /// Expires what is due at `now` or before, earliest first; a timer that is armed meanwhile waits
  /// for the next call. True if any expired.
  bool expire(Instant now);

 private:
  static bool before(const Timer& a, const Timer& b);
  static Timer* merge(Timer* a, Timer* b);
  static Timer* merge_siblings(Timer* first);

  Timer* root_ = nullptr;
  std::uint64_t added_ = 0;
};

}  // namespace hocket
