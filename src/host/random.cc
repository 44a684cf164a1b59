// SPDX-License-Identifier: Apache-2.0
#include "host/random.h"

#include <sys/random.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace hocket::host {

Result<void> Random::fill(Bytes target) {
  while (target.size > 0) {
    const ssize_t got = getrandom(target.data, target.size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return Error(Code::system, "getrandom of " + std::to_string(target.size) +
                                     " bytes: " + std::generic_category().message(errno));
    target.data += got;
    target.size -= static_cast<std::uint64_t>(got);
  }
  return kOk;
}

}  // namespace hocket::host
