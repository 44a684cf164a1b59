// SPDX-License-Identifier: Apache-2.0
#include "host/doorbell.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace hocket::host {
namespace {

constexpr std::uint32_t kTicket = 1, kRing = 2;

// The kernel reads the word as the 32 bits it is.
static_assert(sizeof(Word) == sizeof(std::uint32_t));

long futex(Word& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

}  // namespace

std::uint32_t Doorbell::ticket() { return word_.set(kTicket); }

void Doorbell::wait(std::uint32_t ticket, Duration most) {
  if (most <= Duration{0} || word_.load() != ticket) return;
  const timespec timeout{most.ns / 1'000'000'000, most.ns % 1'000'000'000};
  futex(word_, FUTEX_WAIT, ticket, &timeout);  // rung, too late, a signal: the caller looks again
  static_cast<void>(word_.load());             // sees what the ringer had done
}

void Doorbell::ring() {
  std::uint32_t value = word_.load();
  while (!word_.replace(value, (value + kRing) & ~kTicket)) {
  }
  if ((value & kTicket) != 0) futex(word_, FUTEX_WAKE, INT_MAX, nullptr);
}

void Doorbell::yield() { sched_yield(); }

std::uint32_t Doorbell::cores() {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 1 ? static_cast<std::uint32_t>(cores) : 1;
}

}  // namespace hocket::host
