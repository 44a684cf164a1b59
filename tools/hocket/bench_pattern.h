// SPDX-License-Identifier: Apache-2.0
// Known data for the bench, and what a collective must make of it. Element i of rank r's input is a
// small integer that depends on r and on i modulo a prime period, so that buffers are filled and
// checked by the period, at memory speed, and a block in the wrong place shows. All results are
// exact in every type, so that they are compared bit for bit; only avg of floats over a number of
// ranks that is no power of two rounds, and is given one unit of the type's precision per rank.
// Threads: pure after construction. Cost: some 100 KB of tables; a check is a memcmp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace hocket::tools {

class Pattern {
 public:
  Pattern(DataType type, ReduceOp op, std::uint32_t ranks);

  /// The input of `rank` from element `first` on.
  void fill(std::uint32_t rank, std::uint64_t first, std::span<std::byte> buffer) const;
  /// Elements of `buffer` that are not the input of `rank` from element `first` on.
  std::uint64_t wrong_input(std::uint32_t rank, std::uint64_t first,
                            std::span<const std::byte> buffer) const;
  /// Elements of `buffer` that are not the reduction over all ranks from element `first` on.
  std::uint64_t wrong_reduction(std::uint64_t first, std::span<const std::byte> buffer) const;

 private:
  using Table = std::vector<std::byte>;  // one period
  Table table(std::uint32_t rank) const;
  Table reduced() const;
  std::uint64_t compare(const Table& table, std::uint64_t first,
                        std::span<const std::byte> buffer) const;
  std::uint64_t differing(std::span<const std::byte> wanted,
                          std::span<const std::byte> found) const;

  const DataType type_;
  const ReduceOp op_;
  const std::uint32_t ranks_, size_;
  std::vector<Table> inputs_;  // by rank modulo the number of different ones
  Table reduction_;
};

}  // namespace hocket::tools
