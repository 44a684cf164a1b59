// SPDX-License-Identifier: Apache-2.0
// A doorbell between the threads of one process: a futex. One word holds a count of rings and, in
// its lowest bit, whether anybody has taken a ticket since the last ring. Both sides change it
// atomically, so either the waiter finds what the ringer has done, or the ringer finds the ticket;
// no fence is needed, and ringing when nobody waits makes no system call.
// Threads: all. Failure: none; a wait may return early, as its caller's loop allows.
// Cost: ring 5 ns when nobody waits, else a system call (1-2 us); a wait that sleeps wakes some
// 5-60 us after the ring, and up to the thread's timer slack (50 us) after `most`.
#pragma once
#include "base/word.h"
#include "world/doorbell.h"

namespace hocket::host {

class Doorbell final : public world::Doorbell {
 public:
  std::uint32_t ticket() override;
  void wait(std::uint32_t ticket, Duration most) override;
  void ring() override;
  void yield() override;
  std::uint32_t cores() override;

 private:
  Word word_;  // rings * 2 + whether a ticket was taken
};

}  // namespace hocket::host
