// SPDX-License-Identifier: Apache-2.0
#include "plan/slices.h"

namespace hocket {

// Goes on to the next stretch that is not empty.
void Slices::seek() {
  const bool strided = plan_->pieces > 1 && plan_->request.block_per_rank();
  while (at_ == end_ && block_ < range_.count) {
    const std::uint32_t wrap = range_.size - range_.first;
    const std::uint32_t ends =
        strided ? block_ + 1 : (block_ < wrap ? std::min(range_.count, wrap) : range_.count);
    const std::uint32_t first = range_.block(block_);
    const Plan::Stretch bytes = plan_->stretch(piece_, first, range_.block(ends - 1));
    const std::uint64_t origin = plan_->origin(range_.buffer, first);
    at_ = bytes.begin - origin;
    end_ = bytes.end - origin;
    block_ = ends;
  }
}

// A buffer with an origin holds one block, so what is true of the range's first block is true of
// all of it.
std::uint64_t Slices::offset_in(Buffer buffer) const {
  if (range_.count == 0 || buffer == range_.buffer) return at_;
  const std::uint32_t block = range_.block(0);
  return at_ + plan_->origin(range_.buffer, block) - plan_->origin(buffer, block);
}

std::uint64_t landing_shift(const Plan& plan, std::uint32_t piece, const Exchange& exchange) {
  if (exchange.out.count == 0) return 0;
  Range landing = exchange.out;
  landing.first = exchange.lands;
  const std::uint32_t from = exchange.out.block(0), to = landing.block(0);
  const std::uint64_t moved = from == to ? 0 : plan.begin(piece, to) - plan.begin(piece, from);
  return moved + plan.origin(exchange.out.buffer, from) - plan.origin(Buffer::output, to);
}

}  // namespace hocket
