// SPDX-License-Identifier: Apache-2.0
// Something that happens, and any number of coroutines that wait for it:
//
//   const Until until{"the parent's table", deadline, token};
//   CO_TRY_VOID(table_arrived.wait(until));
//
// Threads: one at a time. Ownership: outlives its waits. Cost: 40 bytes.
#pragma once
#include "async/wait.h"

namespace hocket {

class Event {
 public:
  class Waiting final : public Wait {
   public:
    Waiting(Event& event, const Until& until)
        : Wait(event.loop_, event.waits_, until), event_(event) {}
    bool await_ready() { return cancelled_early() || event_.set_; }
    Result<void> await_resume() const { return outcome(); }

   private:
    Event& event_;
  };

  explicit Event(Loop& loop) : loop_(loop) {}

  /// It has happened: all who wait go on, and nobody waits from now on until reset().
  void set() {
    set_ = true;
    while (Wait* const wait = waits_.front()) wait->grant();
  }
  /// It may happen again. Whoever was woken by set() still goes on.
  void reset() { set_ = false; }
  bool is_set() const { return set_; }

  /// Awaited: Result<void>.
  Waiting wait(const Until& until) { return Waiting(*this, until); }

 private:
  Loop& loop_;
  List<Wait> waits_;
  bool set_ = false;
};

}  // namespace hocket
