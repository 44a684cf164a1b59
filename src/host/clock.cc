// SPDX-License-Identifier: Apache-2.0
#include "host/clock.h"

#include <chrono>

namespace hocket::host {

Instant Clock::now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

}  // namespace hocket::host
