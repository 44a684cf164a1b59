// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/incoming.h"

#include <string>
#include <utility>

#include "transport/shm/copy.h"

namespace hocket::transport::shm {

std::byte* Scratch::take() {
  if (free_.empty()) {
    const std::size_t size = (bytes_ + 2 * kPage - 1) / kPage * kPage;
    all_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(kPage, size)));
    return all_.back().get();
  }
  std::byte* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

Incoming::Incoming(Peers& peers, Scratch& scratch, Rank from, Result<Box*> box)
    : peers_(peers),
      scratch_(scratch),
      peer_(peers.peer(from)),
      credits_(peers.segment().shape().credits) {
  if (!box) {
    broken_ = std::move(box).error().at_rank(peers.me()).about_peer(from);
    return;
  }
  box_ = *box;
  box_->reach.store(peers.can_read(peer_) ? Reach::direct : Reach::refused,
                    std::memory_order_relaxed);
}

Error Incoming::nonsense(const std::string& what) {
  broken_ = Error(Code::peer_lost, "rank " + std::to_string(peer_.rank.value) +
                                       " wrote nonsense into the shared segment: " + what)
                .at_rank(peers_.me())
                .about_peer(peer_.rank);
  return broken_->clone();
}

Result<Incoming::Source> Incoming::oldest(std::uint64_t size) {
  if (!has_arrival() || broken_) {
    if (broken_) return broken_->clone();
    CHECK(peer_.is_gone(), "front or land without an arrival: ask ready() first");
    return peers_.gone(peer_);
  }
  const Slot& slot = box_->slots()[at_];
  if (slot.size != size)
    return Error(Code::mismatch, "rank " + std::to_string(peer_.rank.value) + " sent " +
                                     std::to_string(slot.size) + " bytes where " +
                                     std::to_string(size) + " were expected")
        .at_rank(peers_.me())
        .about_peer(peer_.rank);
  switch (slot.kind) {
    case Kind::inlined:
      if (size > Slot::kInline) break;
      return Source{.here = slot.payload};
    case Kind::staged: {
      const std::byte* const stage = peers_.segment().at(slot.place, size);
      if (stage == nullptr) break;
      return Source{.here = stage};
    }
    case Kind::addressed:
      if (!peers_.can_read(peer_)) break;
      return Source{.there = slot.place};
  }
  return nonsense("a message of kind " + std::to_string(static_cast<std::uint32_t>(slot.kind)) +
                  " and size " + std::to_string(size) + " at " + std::to_string(slot.place));
}

// See Outgoing::close.
Result<void> Incoming::begin_reading() {
  box_->reading.store(taken_ + 1, std::memory_order_seq_cst);
  is_reading_ = true;
  if (!box_->closed.load(std::memory_order_seq_cst)) return kOk;
  end_reading();
  if (peers_.refresh(peer_) != Fate::present) return peers_.gone(peer_);
  return Error(Code::peer_lost, "rank " + std::to_string(peer_.rank.value) +
                                    " took its message back: the communicator has failed")
      .at_rank(peers_.me())
      .about_peer(peer_.rank);
}

void Incoming::end_reading() {
  if (is_reading_) box_->reading.store(0, std::memory_order_release);
  is_reading_ = false;
}

Result<ConstBytes> Incoming::front(std::uint64_t size) {
  TRY(const Source source, oldest(size));
  if (source.here != nullptr) return ConstBytes(source.here, size);
  if (pulled_ == nullptr) {
    TRY_VOID(begin_reading());
    if (peers_.shares_addresses(peer_))
      return ConstBytes(reinterpret_cast<const std::byte*>(source.there), size);
    Result<void> pulled = pull(source.there, size);
    end_reading();
    if (!pulled) return std::move(pulled).error();
  }
  return ConstBytes(pulled_ + source.there % kPage, size);
}

// Into scratch memory, at the offset in a page that the source has: see copy.h.
Result<void> Incoming::pull(std::uint64_t there, std::uint64_t size) {
  std::byte* const buffer = scratch_.take();
  if (buffer == nullptr)
    return Error(Code::out_of_memory, "no " + std::to_string(size) + " bytes for an arrival")
        .at_rank(peers_.me())
        .about_peer(peer_.rank);
  Result<void> read = peers_.read(peer_, there, {buffer + there % kPage, size});
  if (read) {
    pulled_ = buffer;
  } else {
    scratch_.give_back(buffer);
  }
  return read;
}

Result<void> Incoming::land(Bytes target) {
  TRY(const Source source, oldest(target.size));
  const bool is_read_by_kernel = source.here == nullptr && !peers_.shares_addresses(peer_);
  if (is_read_by_kernel &&
      !is_slow_move(reinterpret_cast<std::uintptr_t>(target.data), source.there)) {
    TRY_VOID(begin_reading());
    Result<void> read = peers_.read(peer_, source.there, target);
    end_reading();
    return read;
  }
  TRY(const ConstBytes arrived, front(target.size));
  copy(target.data, arrived.data, target.size);
  end_reading();
  return kOk;
}

void Incoming::pop() {
  if (is_dead()) return;
  CHECK(has_arrival(), "pop without an arrival");
  end_reading();
  if (pulled_ != nullptr) scratch_.give_back(std::exchange(pulled_, nullptr));
  box_->popped.store(++taken_, std::memory_order_release);
  at_ = at_ + 1 < credits_ ? at_ + 1 : 0;
}

}  // namespace hocket::transport::shm
