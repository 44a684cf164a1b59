// SPDX-License-Identifier: Apache-2.0
// How the ranks of one machine meet: rank 0 listens under a name that follows from the id, the
// others come, and all leave with a place in the segment that rank 0 made (messages.h has the
// talk). Whoever brings another id, another world or a rank that is taken is turned away and told
// why; the others go on. Who gives up first is told who was missing; when rank 0 gives up all are.
// Threads: any, several at once; a call drives its own side until it ends. Failure: as
// world/network.h says of join.
#pragma once
#include "base/result.h"
#include "transport/shm/meeting/messages.h"
#include "transport/shm/node.h"
#include "transport/shm/place.h"
#include "world/network.h"

namespace hocket::transport::shm {

/// Blocks until all have a place, at most a moment longer than the deadline.
Result<Place> meet(Node& node, const world::Join& join);

inline Terms terms_of(const world::Join& join) {
  return {.world = join.world,
          .ranks_per_node = join.ranks_per_node,
          .channels = join.channels,
          .slice_bytes = static_cast<std::uint32_t>(join.slice_bytes),
          .agreement = join.agreement};
}

inline Shape shape_of(const world::Join& join, std::uint32_t credits) {
  return {.world = join.world,
          .channels = join.channels,
          .credits = credits,
          .slice_bytes = static_cast<std::uint32_t>(join.slice_bytes)};
}

}  // namespace hocket::transport::shm
