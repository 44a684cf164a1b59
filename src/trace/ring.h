// SPDX-License-Identifier: Apache-2.0
// The flight recorder: the last events of one rank, in memory given from outside, which may be
// shared and may outlive the process, however that ends. Events are numbered from 0; event n lies
// in slot n modulo the capacity, beside a word that says which event the slot holds. A writer
// clears that word, writes the event and sets it again, so that a reader who is overtaken, or who
// finds a slot that was being written when its process was killed, sees so and leaves the event
// out.
//
// Threads: one writer; any number of readers beside it, in any process that maps the memory.
// Ownership: borrows the memory. Failure: the reader trusts nothing; memory that is no ring is
// mismatch, naming the offset. Cost: an event is 40 bytes and some 10 ns (ring_bench.cc; the
// bound is 25), without a system call, a lock or a fence.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "trace/event.h"

namespace hocket::trace {

namespace internal {
struct RingHeader;
struct RingSlot;
}  // namespace internal

/// The writer.
class Ring {
 public:
  /// Memory that a ring needs; `capacity` is a power of two.
  static std::uint64_t bytes_for(std::uint32_t capacity);
  /// Makes an empty ring of `rank` in `memory`: aligned to 8, at least bytes_for(capacity).
  Ring(Bytes memory, std::uint32_t capacity, Rank rank);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  void record(const Event& event);
  /// Events recorded so far.
  std::uint64_t recorded() const { return next_; }

 private:
  internal::RingHeader* header_;
  internal::RingSlot* slots_;
  std::uint64_t mask_;
  std::uint64_t next_ = 0;
};

/// What a ring holds, or held when it was read: the last events of one rank, oldest first.
struct Recording {
  Rank rank;
  std::uint64_t lost = 0;  ///< events recorded that are not here: overwritten or half written
  std::vector<Event> events;
  bool operator==(const Recording&) const = default;
};

/// Copies what a ring holds, also while it is written to. `memory` is what the ring was made in.
Result<Recording> read_ring(ConstBytes memory);

}  // namespace hocket::trace
