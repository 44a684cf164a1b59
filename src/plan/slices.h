// SPDX-License-Identifier: Apache-2.0
// Walks the bytes of a range of blocks, slice by slice: the messages that one exchange becomes.
//
// A stretch is a run of blocks that lie side by side; it ends where the cycle wraps around and,
// where blocks lie apart (piece.h), after every block. Stretches are cut into slices of
// `Plan::slice_bytes`, rounded down to whole elements. Nothing but the piece and positions
// decides where the cuts are. Both ends of a message therefore see the same sizes, as they name the
// same positions; only a message of a single block may have another position at the other end, and
// then the two blocks are equally long (the prover checks both). Blocks that rounding left empty
// are skipped, by both ends; a range of no blocks is a signal: one slice of no bytes.
//
//   for (Slices s(piece, exchange.out); s.more(); s.next()) use(s.offset(), s.size());
//
// Threads, ownership: a value, borrows the piece. It lives in coroutine frames: keep it small.
// Cost: a slice is an addition, a stretch some ten; see slices_bench.cc.
#pragma once
#include <algorithm>
#include <cstdint>

#include "plan/piece.h"

namespace hocket {

class Slices {
 public:
  Slices(const Piece& piece, const Range& range) : piece_(&piece), range_(range) { skip_empty(); }

  bool more() const { return at_ < end_ || (range_.count == 0 && block_ == 0); }
  /// Bytes from the start of the range's own buffer.
  std::uint64_t offset() const { return at_; }
  /// The same bytes in another buffer of this rank: where a fold finds its operand.
  std::uint64_t offset_in(Buffer buffer) const;
  std::uint64_t size() const { return std::min<std::uint64_t>(end_ - at_, piece_->slice_bytes()); }
  void next() {
    at_ += size();
    if (range_.count == 0) block_ = 1;
    skip_empty();
  }

 private:
  void skip_empty() {
    while (at_ == end_ && block_ < range_.count) seek();
  }
  void seek();

  const Piece* piece_;
  Range range_;
  std::uint32_t block_ = 0;         // the first one beyond this stretch; 1: the signal is over
  std::uint64_t at_ = 0, end_ = 0;  // what is left of the stretch, in the range's buffer
};

static_assert(sizeof(Slices) <= 56);

/// What to add, modulo 2^64, to the offset of a slice of `from` to find the same bytes in `to`, a
/// range that is equally long.
std::uint64_t shift(const Piece& piece, const Range& from, const Range& to);

}  // namespace hocket
