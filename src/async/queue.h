// SPDX-License-Identifier: Apache-2.0
// Values on their way from whoever must not wait (a completion, an arriving message) to coroutines
// that do. Bounded: a full queue refuses, and the pusher decides what that means. With several
// waiting, the oldest wait gets the next value.
// Threads: one at a time. Ownership: of the values in it; outlives its waits.
// Cost: capacity * sizeof(optional<T>), allocated once.
#pragma once
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "async/wait.h"

namespace hocket {

template <class T>
class Queue {
 public:
  class Popping final : public Wait {
   public:
    Popping(Queue& queue, const Until& until)
        : Wait(queue.loop_, queue.waits_, until), queue_(queue) {}
    bool await_ready() {
      if (cancelled_early()) return true;
      value_ = queue_.try_pop();
      return value_.has_value();
    }
    Result<T> await_resume() {
      Result<void> got = outcome();
      if (!got) return std::move(got).error();
      return std::move(*value_);
    }

   private:
    friend class Queue;
    Queue& queue_;
    std::optional<T> value_;
  };

  Queue(Loop& loop, std::size_t capacity) : loop_(loop), ring_(capacity) {}

  /// False when the queue is full; `value` is then as it was.
  [[nodiscard]] bool try_push(T&& value) {
    if (Wait* const oldest = waits_.front()) {
      static_cast<Popping*>(oldest)->value_ = std::move(value);
      oldest->grant();
      return true;
    }
    if (count_ == ring_.size()) return false;
    ring_[(first_ + count_++) % ring_.size()] = std::move(value);
    return true;
  }
  /// The oldest value; none when the queue is empty.
  std::optional<T> try_pop() {
    if (count_ == 0) return std::nullopt;
    std::optional<T> value = std::exchange(ring_[first_], std::nullopt);
    first_ = (first_ + 1) % ring_.size();
    --count_;
    return value;
  }
  /// Awaited: Result<T>, the oldest value.
  Popping pop(const Until& until) { return Popping(*this, until); }
  std::size_t size() const { return count_; }

 private:
  Loop& loop_;
  List<Wait> waits_;
  std::vector<std::optional<T>> ring_;  // values first_, first_ + 1, ... modulo its size
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace hocket
