// SPDX-License-Identifier: Apache-2.0
// Where the blocks of one piece of a plan lie in the block space: what divisions are for, done once
// a piece, so that a message needs none. Threads, ownership: a value.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "plan/plan.h"

namespace hocket {

class Piece {
 public:
  Piece() = default;  ///< of no plan; to be assigned
  Piece(const Plan& plan, std::uint32_t number);

  /// Bytes of the block space.
  std::uint64_t begin(std::uint32_t block) const {
    return begin_ + stride_ * block + std::min(block, longer_) * grain_;
  }
  std::uint64_t end(std::uint32_t block) const { return begin(block + 1) - gap_; }
  /// Blocks do not lie side by side: they are the user's (one per rank), and cut in pieces.
  bool apart() const { return gap_ > 0; }
  /// What to subtract from an offset in `block` to find it in `buffer`: a buffer that holds one
  /// rank's block only (all_gather's input, reduce_scatter's output) begins with that block.
  std::uint64_t origin(Buffer buffer, std::uint32_t block) const {
    return buffer == short_ ? stride_ * block : 0;
  }
  /// Most bytes of a slice: Plan::slice_bytes in whole elements.
  std::uint32_t slice_bytes() const { return slice_bytes_; }

 private:
  std::uint64_t begin_ = 0, stride_ = 0, gap_ = 0;  // bytes: of block 0, to the next, between them
  std::uint32_t longer_ = 0;                        // blocks that are one element longer
  std::uint32_t grain_ = 1, slice_bytes_ = 1;       // of an element, most of a slice
  std::optional<Buffer> short_;                     // which holds one block only
};

}  // namespace hocket
