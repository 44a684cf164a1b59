// SPDX-License-Identifier: Apache-2.0
// Where the engine's events go: a flight recorder's ring, or counters in the simulator.
// Threads: whoever holds the baton. Cost: the sink's; at most 25 ns an event.
#pragma once
#include "trace/event.h"

namespace hocket::world {

class TraceSink {
 public:
  virtual void record(const trace::Event& event) = 0;

 protected:
  ~TraceSink() = default;
};

}  // namespace hocket::world
