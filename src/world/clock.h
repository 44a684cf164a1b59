// SPDX-License-Identifier: Apache-2.0
// The only door to the time of day. Threads: all. Cost: some 20 ns on a real machine.
#pragma once
#include "base/time.h"

namespace hocket::world {

class Clock {
 public:
  /// Never goes back; the origin is the clock's own.
  virtual Instant now() = 0;

 protected:
  ~Clock() = default;
};

}  // namespace hocket::world
