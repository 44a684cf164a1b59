// SPDX-License-Identifier: Apache-2.0
// How a thread of this process waits when nothing moves: look, take a ticket, look again, sleep. A
// ring between ticket and wait is never lost. It cannot be heard from other processes: waits that
// depend on a peer therefore sleep in short naps (engine/process.cc has the schedule).
// Threads: all.
#pragma once
#include <cstdint>

#include "base/time.h"

namespace hocket::world {

class Doorbell {
 public:
  virtual std::uint32_t ticket() = 0;
  /// Returns when rung since the ticket was taken, or after `most`, whichever is first.
  virtual void wait(std::uint32_t ticket, Duration most) = 0;
  /// Wakes every waiter. No system call when nobody waits.
  virtual void ring() = 0;
  /// Gives the core to somebody else for a moment.
  virtual void yield() = 0;
  /// Of the machine, at least 1: whether ranks have to share them.
  virtual std::uint32_t cores() = 0;

 protected:
  ~Doorbell() = default;
};

}  // namespace hocket::world
