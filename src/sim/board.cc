// SPDX-License-Identifier: Apache-2.0
#include "sim/board.h"

namespace hocket::sim {

const world::Missing& Board::missing(OpSeq op) {
  if (counted_ == op) return missing_;
  counted_ = op;
  missing_.count = 0;
  for (std::uint32_t rank = 0; rank < entered_.size(); ++rank) {
    if (entered_[rank] >= op) continue;
    if (missing_.count < world::Missing::kNamed) missing_.ranks[missing_.count] = Rank{rank};
    ++missing_.count;
  }
  return missing_;
}

bool Board::publish(const world::Failure& mine, Picoseconds now) {
  if (failure_) return false;
  failure_ = mine;
  published_ = now;
  return true;
}

}  // namespace hocket::sim
