// SPDX-License-Identifier: Apache-2.0
// The machine's monotonic clock, counted from this object's construction. It stands still while the
// machine sleeps and is slewed by NTP, never stepped. Threads: all. Cost: some 20 ns, no system
// call.
#pragma once
#include "world/clock.h"

namespace hocket::host {

class Clock final : public world::Clock {
 public:
  Clock();
  Instant now() override;

 private:
  const std::int64_t origin_ns_;
};

}  // namespace hocket::host
