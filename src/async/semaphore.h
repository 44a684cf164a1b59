// SPDX-License-Identifier: Apache-2.0
// A number of permits, handed out in the order in which they are asked for: at most so many
// connections in the making, so many messages in flight. A released permit goes straight to the
// oldest wait, so nobody overtakes and nobody starves.
// Threads: one at a time. Ownership: outlives its waits. Cost: 40 bytes.
#pragma once
#include <cstdint>

#include "async/wait.h"

namespace hocket {

class Semaphore {
 public:
  class Acquiring final : public Wait {
   public:
    Acquiring(Semaphore& semaphore, const Until& until)
        : Wait(semaphore.loop_, semaphore.waits_, until), semaphore_(semaphore) {}
    bool await_ready() { return cancelled_early() || semaphore_.try_acquire(); }
    Result<void> await_resume() const { return outcome(); }

   private:
    Semaphore& semaphore_;
  };

  Semaphore(Loop& loop, std::uint32_t permits) : loop_(loop), free_(permits) {}

  /// Awaited: Result<void>; release() once if it is good.
  Acquiring acquire(const Until& until) { return Acquiring(*this, until); }
  [[nodiscard]] bool try_acquire() {
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  void release() {
    if (Wait* const oldest = waits_.front()) {
      oldest->grant();
    } else {
      ++free_;
    }
  }
  /// Permits that nobody holds; zero while anybody waits.
  std::uint32_t free() const { return free_; }

 private:
  Loop& loop_;
  List<Wait> waits_;
  std::uint32_t free_;
};

}  // namespace hocket
