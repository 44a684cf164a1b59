// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/cross_memory.h"

#include <sys/uio.h>

#include <cerrno>

namespace hocket::transport::shm {
namespace {

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

bool can_read(const Identity& own, const Identity& other) {
  if (own.pid_namespace != other.pid_namespace) return false;
  return read_memory(other, {}, {}) == Attach::done;
}

Attach read_memory(const Identity& other, const Remote& remote, Bytes target) {
  std::uint64_t cookie = 0;
  std::uint64_t done = 0;
  bool is_verified = remote.is_verified;
  while (done < target.size || !is_verified) {
    const std::uint64_t left = target.size - done;
    const iovec here[2] = {{&cookie, sizeof cookie}, {target.data + done, left}};
    const iovec there[2] = {{pointer(other.cookie_address), sizeof cookie},
                            {pointer(remote.address + done), left}};
    const int first = is_verified ? 1 : 0;
    const auto count = static_cast<unsigned long>(2 - first);
    const ssize_t read =
        ::process_vm_readv(other.pid, here + first, count, there + first, count, 0);
    if (read < 0 && errno == ESRCH) return Attach::gone;
    if (read < 0 && errno != EFAULT) return Attach::refused;
    std::uint64_t got = read < 0 ? 0 : static_cast<std::uint64_t>(read);
    if (!is_verified) {
      if (got < sizeof cookie || cookie != other.cookie) return Attach::gone;
      got -= sizeof cookie;
      is_verified = true;
    }
    if (got == 0 && done < target.size) return Attach::unreadable;
    done += got;
  }
  return Attach::done;
}

}  // namespace hocket::transport::shm
