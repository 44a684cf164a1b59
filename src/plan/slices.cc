// SPDX-License-Identifier: Apache-2.0
#include "plan/slices.h"

namespace hocket {

// Goes on to the next stretch that is not empty.
void Slices::seek() {
  while (at_ == end_ && block_ < range_.count) {
    const std::uint32_t wrap = range_.size - range_.first;
    const std::uint32_t ends = piece_->apart()
                                   ? block_ + 1
                                   : (block_ < wrap ? std::min(range_.count, wrap) : range_.count);
    const std::uint32_t first = range_.block(block_);
    const std::uint64_t origin = piece_->origin(range_.buffer, first);
    at_ = piece_->begin(first) - origin;
    end_ = piece_->end(range_.block(ends - 1)) - origin;
    block_ = ends;
  }
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
