// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/meeting/meeting.h"

#include "transport/shm/meeting/guest.h"
#include "transport/shm/meeting/host.h"

namespace hocket::transport::shm {

Result<Place> meet(Node& node, const world::Join& join) {
  if (join.rank == Rank{0}) return Host(node, join).run();
  return Guest(node, join).run();
}

}  // namespace hocket::transport::shm
