// SPDX-License-Identifier: Apache-2.0
// Reading another process's memory through the kernel, without its help (cross-memory attach). The
// kernel allows it for a process that we might trace: same user, same user namespace, and no
// security module in the way. A pid may be reused, so a read can fetch the other's cookie along.
// Threads: all. Cost: a system call (0.5-2 us) and 60-90 ns a page.
#pragma once
#include <cstdint>

#include "base/bytes.h"
#include "transport/shm/node.h"

namespace hocket::transport::shm {

enum class Attach : std::uint8_t {
  done,
  gone,        ///< no such process any more
  unreadable,  ///< there is no memory at that address
  refused,     ///< the kernel does not let us
};

/// Whether `other` is a process that we may read; `own` must be in the same pid namespace.
bool can_read(const Identity& own, const Identity& other);

struct Remote {
  std::uint64_t address = 0;
  bool is_verified = false;  ///< that `other` is still the same process was checked just now
};
/// Copies target.size bytes at remote.address of `other` into `target`.
Attach read_memory(const Identity& other, const Remote& remote, Bytes target);

}  // namespace hocket::transport::shm
