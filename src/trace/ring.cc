// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <string>

namespace hocket::trace {
namespace internal {

// The words of an event are atomic because a reader may look while they are written. Release and
// acquire on each, rather than fences, cost nothing on x86 and are seen by ThreadSanitizer.
using Word64 = std::atomic<std::uint64_t>;
static_assert(Word64::is_always_lock_free && sizeof(Word64) == 8);

constexpr std::uint64_t kMagic = 0x31676e6972746b68;  // "hktring1", read as a little-endian word
constexpr std::size_t kWords = sizeof(Event) / 8;

struct RingHeader {
  Word64 magic;     // kMagic: stored last, so that what it names is complete
  Word64 capacity;  // slots
  Word64 rank;
  Word64 recorded;  // events
};

struct RingSlot {
  Word64 holds;  // number of its event plus one; 0: none, or it is being written
  Word64 words[kWords];
};

}  // namespace internal

using internal::RingHeader;
using internal::RingSlot;

std::uint64_t Ring::bytes_for(std::uint32_t capacity) {
  return sizeof(RingHeader) + std::uint64_t{capacity} * sizeof(RingSlot);
}

Ring::Ring(Bytes memory, std::uint32_t capacity, Rank rank) : mask_(std::uint64_t{capacity} - 1) {
  CHECK(std::has_single_bit(capacity), "a ring's capacity is a power of two");
  CHECK(memory.data != nullptr && memory.size >= bytes_for(capacity), "a ring needs its memory");
  CHECK(reinterpret_cast<std::uintptr_t>(memory.data) % alignof(RingHeader) == 0,
        "a ring's memory is aligned to 8");
  header_ = ::new (memory.data) RingHeader{};
  slots_ = ::new (memory.data + sizeof(RingHeader)) RingSlot[capacity]{};
  header_->capacity.store(capacity, std::memory_order_relaxed);
  header_->rank.store(rank.value, std::memory_order_relaxed);
  header_->magic.store(internal::kMagic, std::memory_order_release);
}

void Ring::record(const Event& event) {
  const auto words = std::bit_cast<std::array<std::uint64_t, internal::kWords>>(event);
  RingSlot& slot = slots_[next_ & mask_];
  slot.holds.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < words.size(); ++i)
    slot.words[i].store(words[i], std::memory_order_release);
  slot.holds.store(++next_, std::memory_order_release);
  header_->recorded.store(next_, std::memory_order_release);
}

namespace {

Error no_ring(std::uint64_t offset, const std::string& what) {
  return Error(Code::mismatch, "ring: offset " + std::to_string(offset) + ": " + what);
}

/// Event `number`, unless its slot holds another one by the time it is read.
bool read_slot(const RingSlot& slot, std::uint64_t number, Event& event) {
  if (slot.holds.load(std::memory_order_acquire) != number + 1) return false;
  std::array<std::uint64_t, internal::kWords> words;
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = slot.words[i].load(std::memory_order_acquire);
  event = std::bit_cast<Event>(words);
  return slot.holds.load(std::memory_order_relaxed) == number + 1;
}

}  // namespace

Result<Recording> read_ring(ConstBytes memory) {
  if (memory.data == nullptr || memory.size < sizeof(RingHeader))
    return no_ring(0, std::to_string(memory.size) + " bytes are no header");
  if (reinterpret_cast<std::uintptr_t>(memory.data) % alignof(RingHeader) != 0)
    return no_ring(0, "not aligned to 8");
  const auto& header = *reinterpret_cast<const RingHeader*>(memory.data);
  if (header.magic.load(std::memory_order_acquire) != internal::kMagic)
    return no_ring(0, "not a ring's magic number");
  const std::uint64_t capacity = header.capacity.load(std::memory_order_relaxed);
  if (!std::has_single_bit(capacity) ||
      capacity > (memory.size - sizeof(RingHeader)) / sizeof(RingSlot))
    return no_ring(8, "a capacity of " + std::to_string(capacity) + " in " +
                          std::to_string(memory.size) + " bytes");
  const std::uint64_t rank = header.rank.load(std::memory_order_relaxed);
  if (rank > kNobody.value) return no_ring(16, "rank " + std::to_string(rank));

  const auto* const slots = reinterpret_cast<const RingSlot*>(memory.data + sizeof(RingHeader));
  const std::uint64_t end = header.recorded.load(std::memory_order_acquire);
  Recording recording{Rank{static_cast<std::uint32_t>(rank)}, 0, {}};
  for (std::uint64_t n = end - std::min(end, capacity); n != end; ++n) {
    Event event;
    if (read_slot(slots[n & (capacity - 1)], n, event)) recording.events.push_back(event);
  }
  recording.lost = end - recording.events.size();
  return recording;
}

}  // namespace hocket::trace
