// SPDX-License-Identifier: Apache-2.0
#include "plan/slices.h"

namespace hocket {

// Goes on to the next stretch that is not empty; there is a block left.
void Slices::seek() {
  do {
    const std::uint32_t position = range_.first + block_;
    const std::uint32_t first = position < range_.size ? position : position - range_.size;
    const std::uint32_t blocks =
        piece_->apart() ? 1 : std::min(range_.count - block_, range_.size - first);
    const std::uint32_t block = range_.base + first;
    const std::uint64_t origin = piece_->origin(range_.buffer, block);
    at_ = piece_->begin(block) - origin;
    end_ = piece_->end(block + blocks - 1) - origin;
    block_ += blocks;
  } while (at_ == end_ && block_ < range_.count);
}

// A buffer with an origin holds one block, so what is true of the range's first block is true of
// all of it.
std::uint64_t Slices::offset_in(Buffer buffer) const {
  if (range_.count == 0 || buffer == range_.buffer) return at_;
  const std::uint32_t block = range_.block(0);
  return at_ + piece_->origin(range_.buffer, block) - piece_->origin(buffer, block);
}

std::uint64_t landing_shift(const Piece& piece, const Exchange& exchange) {
  if (exchange.out.count == 0) return 0;
  Range landing = exchange.out;
  landing.first = exchange.lands;
  const std::uint32_t from = exchange.out.block(0), to = landing.block(0);
  const std::uint64_t moved = piece.begin(to) - piece.begin(from);
  return moved + piece.origin(exchange.out.buffer, from) - piece.origin(Buffer::output, to);
}

}  // namespace hocket
