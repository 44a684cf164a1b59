// SPDX-License-Identifier: Apache-2.0
// The memory that the ranks of one communicator share, and one rank's view of it: a row of the
// board per rank, a word for the failure that all agree on, a directory, and a heap from which the
// mailboxes of links and their staging memory are cut at first use. The file is sparse and nameless
// (memfd): what nobody touches costs nothing, /dev/shm does not bound it, nothing is left behind.
//
// Everything here may be written by any rank, so nothing read from it is used as an offset or a
// size before it was checked; the shape comes from the meeting, never from the segment.
// Threads: the shared part is atomics; a view belongs to its rank. Ownership: a view borrows the
// mapping. Failure: out_of_memory when the heap is used up, peer_lost when a peer wrote nonsense.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "transport/shm/file.h"
#include "transport/shm/node.h"

namespace hocket::transport::shm {

/// How a message's bytes travel.
enum class Kind : std::uint32_t { inlined = 1, staged, addressed };

/// One message, in one cache line: its sender fills it in and then stores its number; one store
/// and one load carry a small message over.
struct alignas(64) Slot {
  static constexpr std::uint64_t kInline = 48;
  std::atomic<std::uint64_t> number;  ///< of the message, counted from 1 on each link
  std::uint32_t size;
  Kind kind;
  union {
    std::byte payload[kInline];
    std::uint64_t place;  ///< staged: offset in the segment; addressed: in the sender's memory
  };
};
static_assert(sizeof(Slot) == 64);

/// Whether the receiver can read its sender's memory.
enum class Reach : std::uint32_t { unknown, direct, refused };

/// The mailbox of one (from, to, channel), one writer a line; `credits` slots follow.
struct alignas(128) Box {
  std::atomic<std::uint64_t> popped;     ///< receiver: messages it is done with
  std::atomic<std::uint64_t> reading;    ///< receiver: the message whose source it reads now, or 0
  std::atomic<Reach> reach;              ///< receiver
  alignas(64) std::atomic<bool> closed;  ///< sender: no source is to be read any more
  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
};
static_assert(sizeof(Box) == 128);

enum class Presence : std::uint32_t { absent, joined, left };

/// What one rank tells all.
struct alignas(64) Row {
  std::atomic<std::uint64_t> entered;  ///< the last op it entered
  alignas(64) std::atomic<Presence> presence;
  std::uint32_t failure_code;  ///< these three are written once, before Header::reporter
  std::uint32_t failure_culprit;
  std::uint64_t failure_op;
  Identity identity;
};
static_assert(sizeof(Row) == 128);

struct alignas(64) Header {
  std::atomic<std::uint64_t> heap_end;              ///< where the next piece of the heap is cut
  alignas(64) std::atomic<std::uint32_t> reporter;  ///< 1 + the rank whose failure counts; 0: none
  std::atomic<std::uint32_t> meeting;  ///< 0: goes on; 1: all have met; 2 + who gave up first
};

/// What the ranks agreed on; sizes the segment.
struct Shape {
  std::uint32_t world = 1, channels = 1, credits = 1, slice_bytes = 0;
};

class Segment {
 public:
  static constexpr std::uint32_t kMostCredits = 64, kMostChannels = 256;
  static constexpr std::uint32_t kMostSliceBytes = 1 << 30;
  /// Up to this a message that is staged has a place of its own beside its slot.
  static constexpr std::uint64_t kCellBytes = 1024;

  Segment(std::byte* base, const Shape& shape);

  /// A new one, zero throughout but for the header; nobody can shrink or grow it.
  static Result<File> create(const Shape& shape);
  static std::uint64_t bytes(const Shape& shape);
  /// That `file`, which a peer sent, has that size and keeps it.
  static Result<void> check(const File& file, const Shape& shape);

  const Shape& shape() const { return shape_; }
  std::atomic<std::uint32_t>& reporter() { return header().reporter; }
  /// The meeting ends for all ranks at one stroke, whoever of them dies then: it succeeds by its
  /// host's word or fails by any rank's, and the first counts. Nothing if it has succeeded, else
  /// who gave up.
  std::optional<Rank> conclude();
  std::optional<Rank> give_up(Rank me);
  Row& row(Rank rank) { return reinterpret_cast<Row*>(base_ + kRows)[rank.value]; }

  /// The mailbox, made by whoever of its two ends comes first.
  Result<Box*> box(Rank from, Rank to, ChannelId channel);
  /// Offset of fresh zeroed memory, aligned to 128.
  Result<std::uint64_t> allocate(std::uint64_t size);
  /// Memory of the heap; null when [offset, offset + size) is not within it.
  std::byte* at(std::uint64_t offset, std::uint64_t size);

 private:
  std::optional<Rank> end_meeting(std::uint32_t how);
  static constexpr std::uint64_t kRows = 128;
  static_assert(sizeof(Header) <= kRows);

  Header& header() { return *reinterpret_cast<Header*>(base_); }
  static std::uint64_t directory_begin(const Shape& shape);
  static std::uint64_t heap_begin(const Shape& shape);
  std::uint64_t box_bytes() const;

  std::byte* base_;
  Shape shape_;
  std::uint64_t bytes_;
  std::uint64_t spare_box_ = 0;  // cut in vain: the peer was faster
};

}  // namespace hocket::transport::shm
