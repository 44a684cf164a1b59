// SPDX-License-Identifier: Apache-2.0
// The right to drive something, held by one thread at a time: a try-lock that orders memory. Nobody
// blocks on it; who does not get it waits elsewhere (world/doorbell.h) or spins a bounded moment.
// Threads: all. Cost: one atomic exchange when free, one load when taken.
#pragma once
#include <atomic>

namespace hocket {

class Baton {
 public:
  Baton() = default;
  Baton(const Baton&) = delete;
  Baton& operator=(const Baton&) = delete;

  [[nodiscard]] bool try_take() {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  }
  void lay_down() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

/// The baton, for as long as this lives: a moment, for which others wait.
class Held {
 public:
  explicit Held(Baton& baton) : Held(baton, [] {}) {}
  /// Who has to wait does `idle()` between tries: lets the holder have this core.
  template <class Idle>
  Held(Baton& baton, Idle idle) : baton_(baton) {
    while (!baton_.try_take()) idle();
  }
  ~Held() { baton_.lay_down(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Baton& baton_;
};

}  // namespace hocket
