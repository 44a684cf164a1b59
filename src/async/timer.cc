// SPDX-License-Identifier: Apache-2.0
#include "async/timer.h"

#include <utility>

namespace hocket {

void Timers::add(Timer& timer, Instant at) {
  CHECK(!timer.armed(), "a timer is armed once at a time");
  if (at == kNever) return;
  timer.at_ = at;
  timer.sequence_ = ++added_;
  root_ = merge(root_, &timer);
}

void Timers::remove(Timer& timer) {
  if (!timer.armed()) return;
  Timer* const children = merge_siblings(std::exchange(timer.child_, nullptr));
  if (&timer == root_) {
    root_ = children;
  } else {
    Timer& before = *timer.previous_;
    (before.child_ == &timer ? before.child_ : before.next_) = timer.next_;
    if (timer.next_ != nullptr) timer.next_->previous_ = &before;
    root_ = merge(root_, children);
  }
  timer.next_ = timer.previous_ = nullptr;
  timer.sequence_ = 0;
}

bool Timers::expire(Instant now) {
  const std::uint64_t last = added_;
  bool any = false;
  while (root_ != nullptr && root_->at_ <= now && root_->sequence_ <= last) {
    Timer& due = *root_;
    remove(due);
    due.expired();
    any = true;
  }
  return any;
}

bool Timers::before(const Timer& a, const Timer& b) {
  return a.at_ != b.at_ ? a.at_ < b.at_ : a.sequence_ < b.sequence_;
}

/// Two heaps, either of which may be null, become one: the later root is the other's first child.
Timer* Timers::merge(Timer* a, Timer* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (before(*b, *a)) std::swap(a, b);
  b->next_ = a->child_;
  b->previous_ = a;
  if (a->child_ != nullptr) a->child_->previous_ = b;
  a->child_ = b;
  return a;
}

/// The two passes of the paper: pairs from left to right, then their winners from right to left.
Timer* Timers::merge_siblings(Timer* first) {
  Timer* winners = nullptr;
  while (first != nullptr) {
    Timer* const a = first;
    Timer* const b = std::exchange(a->next_, nullptr);
    first = b != nullptr ? std::exchange(b->next_, nullptr) : nullptr;
    Timer* const winner = merge(a, b);
    winner->next_ = std::exchange(winners, winner);
  }
  Timer* root = nullptr;
  while (winners != nullptr) {
    Timer* const winner = winners;
    winners = std::exchange(winner->next_, nullptr);
    root = merge(root, winner);
  }
  return root;
}

}  // namespace hocket
