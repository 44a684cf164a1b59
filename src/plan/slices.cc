// SPDX-License-Identifier: Apache-2.0
#include "plan/slices.h"

namespace hocket {

// Goes on to the next stretch; there is a block left.
void Slices::seek() {
  const std::uint32_t position = range_.first + block_;
  const std::uint32_t first = position < range_.size ? position : position - range_.size;
  const std::uint32_t blocks =
      piece_->apart() ? 1 : std::min(range_.count - block_, range_.size - first);
  const std::uint32_t block = range_.base + first;
  const std::uint64_t origin = piece_->origin(range_.buffer, block);
  at_ = piece_->begin(block) - origin;
  end_ = piece_->end(block + blocks - 1) - origin;
  block_ += blocks;
}

std::uint64_t Slices::offset_in(Buffer buffer) const {
  if (buffer == range_.buffer) return at_;
  Range same = range_;
  same.buffer = buffer;
  return at_ + shift(*piece_, range_, same);
}

// A buffer with an origin holds one block, so what is true of the range's first block is true of
// all of it.
std::uint64_t shift(const Piece& piece, const Range& from, const Range& to) {
  if (from.count == 0) return 0;
  const std::uint32_t here = from.block(0), there = to.block(0);
  const std::uint64_t moved = here != there ? piece.begin(there) - piece.begin(here) : 0;
  return moved + piece.origin(from.buffer, here) - piece.origin(to.buffer, there);
}

}  // namespace hocket
