// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/outgoing.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "transport/shm/copy.h"

namespace hocket::transport::shm {

Result<std::uint64_t> Stages::take(Segment& segment, std::uint32_t slot, std::uint64_t size) {
  if (size <= Segment::kCellBytes) {
    if (cells_ == 0) {
      TRY(cells_, segment.allocate(segment.shape().credits * Segment::kCellBytes));
    }
    return cells_ + slot * Segment::kCellBytes;
  }
  if (held_.empty()) {
    held_.resize(segment.shape().credits);
    free_.reserve(held_.size());  // a link in a hurry has no memory to take
  }
  std::uint64_t offset = 0;
  if (free_.empty()) {
    TRY(offset, segment.allocate(segment.shape().slice_bytes));
  } else {
    offset = free_.back();
    free_.pop_back();
  }
  held_[slot] = offset;
  return offset;
}

void Stages::give_back(std::uint32_t slot) {
  if (slot >= held_.size() || held_[slot] == 0) return;
  free_.push_back(std::exchange(held_[slot], 0));
}

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

Outgoing::Outgoing(Peers& peers, Rank to, Result<Box*> box)
    : peers_(peers),
      peer_(peers.peer(to)),
      credits_(peers.segment().shape().credits),
      most_staged_(most_staged(peers, peer_)) {
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

Result<void> Outgoing::write(ConstBytes source) {
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
    TRY(place, stage(source));
    post(Kind::staged, source.size, place);
    return kOk;
  }
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

Result<std::uint64_t> Outgoing::stage(ConstBytes source) {
  if (source.size > Segment::kCellBytes) give_back_stages();
  Result<std::uint64_t> place = stages_.take(peers_.segment(), at_, source.size);
  if (!place) return std::move(place).error().at_rank(peers_.me()).about_peer(peer_.rank);
  copy(peers_.segment().at(*place, source.size), source.data, source.size);
  return place;
}

// Those that hold a stage are among the last `credits` messages before the last call.
void Outgoing::give_back_stages() {
  look_for_credits();
  const std::uint64_t end = std::min(popped_, given_back_ + credits_);
  for (std::uint64_t i = given_back_; i < end; ++i)
    stages_.give_back(static_cast<std::uint32_t>(i % credits_));
  given_back_ = popped_;
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
