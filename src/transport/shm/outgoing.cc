// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/outgoing.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "transport/shm/copy.h"

namespace hocket::transport::shm {

namespace {

/// Two ranks of one process copy nothing that they need not; others stage what caches hold, within
/// the memory that one rank's stages may take.
std::uint64_t most_staged(Peers& peers, const Peer& to) {
  constexpr std::uint64_t kStagesOfRank = 64 << 20, kBesideAddresses = 16 << 10;
  const std::uint64_t wanted = peers.options().staged_bytes;
  if (peers.shares_addresses(to)) return std::min(wanted, kBesideAddresses);
  const Shape& shape = peers.segment().shape();
  return std::min(wanted, kStagesOfRank / shape.credits / shape.world);
}

}  // namespace

Outgoing::Outgoing(Peers& peers, Stages& stages, Rank to, Result<Box*> box)
    : peers_(peers),
      peer_(peers.peer(to)),
      credits_(peers.segment().shape().credits),
      most_staged_(most_staged(peers, peer_)),
      staging_(stages) {
  if (box) {
    box_ = *box;
  } else {
    broken_ = std::move(box).error().at_rank(peers.me()).about_peer(to);
  }
  if (peers.shares_addresses(peer_)) reach_ = Reach::direct;
}

bool Outgoing::ready() {
  if (has_credit()) return true;
  if (!broken_) look_for_credits();
  return has_credit() || peer_.is_gone() || is_closed_ || broken_;
}

void Outgoing::look_for_credits() {
  const std::uint64_t popped = box_->popped.load(std::memory_order_acquire);
  if (popped < popped_ || popped > written_) [[unlikely]] {
    broken_ = Error(Code::peer_lost, "rank " + std::to_string(peer_.rank.value) +
                                         " claims to have taken " + std::to_string(popped) +
                                         " messages of " + std::to_string(written_))
                  .at_rank(peers_.me())
                  .about_peer(peer_.rank);
    return;
  }
  popped_ = popped;
}

Error Outgoing::refusal() const {
  if (broken_) return broken_->clone();
  if (peer_.is_gone()) return peers_.gone(peer_);
  return Error(Code::peer_lost, "the communicator has failed and sends nothing any more")
      .at_rank(peers_.me())
      .about_peer(peer_.rank);
}

Result<void> Outgoing::write(const world::Message& message) {
  const ConstBytes source = message.source;
  if (broken_ || is_closed_ || peer_.is_gone()) [[unlikely]]
    return refusal();
  CHECK(has_credit(), "write without a credit: ask ready() first");
  CHECK(source.size <= peers_.segment().shape().slice_bytes,
        "write of more than Join::slice_bytes");
  CHECK(source.data != nullptr || source.size == 0, "shared memory carries real bytes");
  if (source.size <= Slot::kInline) {
    alignas(16) std::byte payload[Slot::kInline] = {};
    if (source.size > 0) std::memcpy(payload, source.data, source.size);
    post(Kind::inlined, source.size, payload);
    return kOk;
  }
  std::uint64_t place = 0;
  if (source.size <= most_staged_ || !is_direct()) {
    TRY(place, stage(message));
    post(Kind::staged, source.size, place);
    return kOk;
  }
  staging_.pass();
  place = reinterpret_cast<std::uint64_t>(source.data);
  addressed_ = written_ + 1;
  post(Kind::addressed, source.size, place);
  return kOk;
}

// The peer polls this line: between the first and the last store to it nothing else is done, lest
// it travel twice.
template <class Payload>
void Outgoing::post(Kind kind, std::uint64_t size, const Payload& payload) {
  Slot& slot = box_->slots()[at_];
  std::memcpy(slot.payload, &payload, sizeof payload);
  slot.size = static_cast<std::uint32_t>(size);
  slot.kind = kind;
  slot.number.store(++written_, std::memory_order_release);
  at_ = at_ + 1 < credits_ ? at_ + 1 : 0;
}

bool Outgoing::is_direct() {
  if (reach_ == Reach::unknown) reach_ = box_->reach.load(std::memory_order_relaxed);
  return reach_ == Reach::direct;
}

Result<std::uint64_t> Outgoing::stage(const world::Message& message) {
  if (message.source.size > Segment::kCellBytes) {
    look_for_credits();
    staging_.give_back(popped_);
  }
  Result<std::uint64_t> place = staging_.put(message, at_);
  if (!place) return std::move(place).error().at_rank(peers_.me()).about_peer(peer_.rank);
  return place;
}

bool Outgoing::is_drained() {
  if (has_sources() && !broken_) look_for_credits();
  return !has_sources() || is_closed_ || broken_ || peer_.is_gone();
}

// The receiver says which message it reads and then looks whether the link is closed; we close it
// and then look whether it reads. In one total order, one of the two sees the other.
void Outgoing::close() {
  is_closed_ = true;
  if (!broken_) box_->closed.store(true, std::memory_order_seq_cst);
}

void Outgoing::wait_for_readers(Instant deadline) {
  if (broken_ || !peer_.same_process) return;
  while (box_->reading.load(std::memory_order_seq_cst) != 0 && !peer_.is_gone() &&
         peers_.clock().now() < deadline)
    ::sched_yield();
}

}  // namespace hocket::transport::shm
