// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/place.h"

#include <string>

namespace hocket::transport::shm {

Result<Place> Place::take(Node& node, Rank rank, const Shape& shape, File file) {
  TRY(const Identity identity, node.identity());
  TRY(Node::Lease lease, node.map(std::move(file), Segment::bytes(shape)));
  if (!lock_byte(lease.descriptor(), rank.value))
    return system_error("locking the place of rank " + std::to_string(rank.value));
  return Place(std::move(lease), shape, rank, identity);
}

Place::Place(Node::Lease lease, const Shape& shape, Rank rank, const Identity& identity)
    : lease_(std::move(lease)), segment_(lease_.data(), shape), rank_(rank), identity_(identity) {
  Row& row = segment_.row(rank);
  row.identity = identity;
  row.presence.store(Presence::joined, std::memory_order_release);
}

Place::~Place() {
  if (!is_own()) return;
  segment_.row(rank_).presence.store(Presence::left, std::memory_order_release);
  unlock_byte(lease_.descriptor(), rank_.value);
}

}  // namespace hocket::transport::shm
