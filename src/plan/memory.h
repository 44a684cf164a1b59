// SPDX-License-Identifier: Apache-2.0
// The memory of all ranks while a plan is proven: a cell for every block of every piece of every
// buffer, which knows whose operands are in it, in what order they were added, and which events
// touched it last. In place, a block of the input and the same block of the output are one cell
// (request.h says which memory is shared; blocks are numbered alike in both).
// Threads: one. Cost: reset clears some 150 bytes a cell; a look-up is an addition.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "plan/vector_clock.h"

namespace hocket::proof {

struct Value {
  std::uint64_t ranks = 0;  ///< whose operands, one bit each; 0: nothing was ever stored here
  std::uint64_t order = 0;  ///< of the adds; equal orders are equal bits
  std::uint32_t block = 0;  ///< of which operands
  bool operator==(const Value&) const = default;
};

struct Cell {
  Value value;
  std::int16_t written = 0;  ///< event of the owner's receiver by which it was written
};

class Memory {
 public:
  /// Every rank has its operands, nothing else. `requests`: one a rank.
  void reset(const Plan& plan, std::span<const Request> requests, std::uint32_t pieces);

  /// Index of the cell of block 0: the cells of other blocks follow.
  std::uint32_t cells(Rank rank, Buffer buffer, std::uint32_t piece) const {
    const std::uint32_t plane = plane_[static_cast<std::uint32_t>(buffer)];
    return ((rank.value * planes_ + plane) * pieces_ + piece) * blocks_;
  }
  Cell& cell(std::uint32_t index) { return cells_[index]; }
  /// The clock that holds, for every rank, its last event that touched the cell.
  Lane* touched(std::uint32_t index) { return &touched_[std::size_t{index} * lanes_]; }

 private:
  std::vector<Cell> cells_;
  std::vector<Lane> touched_;
  std::uint32_t plane_[3] = {}, planes_ = 0, pieces_ = 0, blocks_ = 0, lanes_ = 0;
};

/// The value that a rank's own operand has.
Value operand(const Plan& plan, Rank rank, std::uint32_t block);

/// local + arrived, in this order; the two have no rank in common.
Value sum(const Value& local, const Value& arrived);

}  // namespace hocket::proof
