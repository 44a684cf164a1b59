// SPDX-License-Identifier: Apache-2.0
// Many threads push, whoever holds the baton takes all, oldest first. Intrusive, so that posting
// allocates nothing. Threads: push from any; take_all from one at a time. Ownership: the items'
// owners keep them alive until taken. Cost: one compare-exchange a push, one exchange a take.
#pragma once
#include <atomic>
#include <utility>

namespace hocket {

/// Item: a type with a member `Item* next_mail`.
template <class Item>
class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void push(Item& item) {
    item.next_mail = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(item.next_mail, &item, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }
  bool empty() const { return newest_.load(std::memory_order_relaxed) == nullptr; }
  /// The oldest item, linked by next_mail to the newest; null when there is none.
  Item* take_all() {
    if (empty()) return nullptr;
    Item* newest = newest_.exchange(nullptr, std::memory_order_acquire);
    Item* oldest = nullptr;
    while (newest != nullptr) {
      Item* const older = std::exchange(newest->next_mail, oldest);
      oldest = std::exchange(newest, older);
    }
    return oldest;
  }

 private:
  std::atomic<Item*> newest_{nullptr};
};

}  // namespace hocket
