// SPDX-License-Identifier: Apache-2.0
// The waiters parked at a fabric, first come first resumed. Whoever is resumed may park and unpark
// anybody, itself included; what is parked during a poll is looked at in the next one.
// Threads: whoever holds the baton. Ownership: borrows the waiters. Cost: a poll asks `ready` once
// per waiter; unpark is linear in the number parked, which is a few.
#pragma once
#include "base/check.h"
#include "world/fabric.h"

namespace hocket::transport::shm {

class Parking {
 public:
  void park(world::Waiter& waiter) {
    CHECK(!waiter.parked, "a waiter was parked twice");
    waiter.parked = true;
    waiter.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &waiter;
    last_ = &waiter;
  }

  void unpark(world::Waiter& waiter) {
    CHECK(waiter.parked, "unpark of a waiter that is not parked");
    world::Waiter* before = nullptr;
    for (world::Waiter* at = first_; at != &waiter; at = at->next) {
      CHECK(at != nullptr, "unpark of a waiter that is parked elsewhere");
      before = at;
    }
    remove(before, waiter);
    if (looked_at_ == &waiter) looked_at_ = before;
  }

  /// Resumes every waiter for which `ready(waiter)` is true; whether there was one.
  template <class Ready>
  bool poll(Ready ready) {
    bool resumed = false;
    looked_at_ = nullptr;
    until_ = last_;
    while (looked_at_ != until_) {
      world::Waiter* const waiter = looked_at_ != nullptr ? looked_at_->next : first_;
      if (!ready(*waiter)) {
        looked_at_ = waiter;
        continue;
      }
      remove(looked_at_, *waiter);
      waiter->handle.resume();
      resumed = true;
    }
    return resumed;
  }

 private:
  void remove(world::Waiter* before, world::Waiter& waiter) {
    (before != nullptr ? before->next : first_) = waiter.next;
    if (last_ == &waiter) last_ = before;
    if (until_ == &waiter) until_ = before;
    waiter.next = nullptr;
    waiter.parked = false;
  }

  world::Waiter* first_ = nullptr;
  world::Waiter* last_ = nullptr;
  world::Waiter* looked_at_ = nullptr;  // in poll: the last one found not ready
  world::Waiter* until_ = nullptr;      // in poll: the last one to look at
};

}  // namespace hocket::transport::shm
