// SPDX-License-Identifier: Apache-2.0
#include "host/random.h"

#include <sys/random.h>

#include <cerrno>

namespace hocket::host {

Result<void> Random::fill(Bytes target) {
  for (std::uint64_t done = 0; done < target.size;) {
    const ssize_t got = ::getrandom(target.data + done, target.size - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error(Code::system, "getrandom gave no bytes");
    done += static_cast<std::uint64_t>(got);
  }
  return kOk;
}

}  // namespace hocket::host
