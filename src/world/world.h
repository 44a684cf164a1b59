// SPDX-License-Identifier: Apache-2.0
// What one rank's engine sees of the world: everything that is not deterministic, and memory for
// frames. Put together by whoever composes a process (api, scenario, tests). Ownership: borrows;
// all of it outlives the engine.
#pragma once
#include "base/arena.h"
#include "world/clock.h"
#include "world/device.h"
#include "world/fabric.h"
#include "world/membership.h"
#include "world/trace_sink.h"

namespace hocket::world {

struct World {
  Fabric& fabric;
  Membership& membership;
  Device& device;
  Clock& clock;
  TraceSink& trace;
  Arena& arena;
};

}  // namespace hocket::world
