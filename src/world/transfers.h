// SPDX-License-Identifier: Apache-2.0
// The sends and receives of one group, as a GPU does them for its rank: all at the same time, but
// those of one direction (to a peer, or from it) one after another, in the order of the calls,
// which is how they find those of the peer. Only their ends take part, unlike in a swap
// (world/swap.h).
//
// A rank's transfers to itself are one direction, too: what is sent and what receives it, in turn.
//
// The rounds of a plan are such groups, one after another: there, what arrives may be added to
// something (list.folds).
// Threads, ownership: values; the memory is the user's.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "world/swap.h"

namespace hocket::world {

/// For averages: what is done to what a rank sends itself. By list.type and list.op.
enum class Scaling : std::uint8_t {
  none,
  before,  ///< floats are divided by the number of ranks, before they are added
  after,   ///< integers, after they were
};

struct Transfer {
  std::byte* memory = nullptr;  ///< only read if it is sent
  std::uint64_t bytes = 0;
  std::uint32_t signature = 0;      ///< of what was called: ends that differ in it are a mismatch
  Scaling scaling = Scaling::none;  ///< of one that receives from its own rank
  /// Of one that receives: what arrives is added to this, as `operand op arrived`. Null: stored.
  const std::byte* operand = nullptr;
  bool operator==(const Transfer&) const = default;
};

struct Direction {
  std::uint8_t peer = 0;
  bool sends = false;
  std::uint16_t first = 0, count = 0;  ///< among all transfers
  bool operator==(const Direction&) const = default;
};

/// A parameter of a kernel, whence its size: a large one makes launches slow.
template <std::uint32_t kTransfers>
struct TransferList {
  static constexpr std::uint32_t kMost = kTransfers;
  static constexpr std::uint32_t kMostDirections = std::min(kMost, 2 * kMostInDomain - 1);

  constexpr std::uint32_t size() const {
    return count == 0 ? 0u : directions[count - 1].first + directions[count - 1].count;
  }

  bool folds = false;  ///< type and op count, if any has an operand or is scaled
  DataType type = DataType::uint8;
  ReduceOp op = ReduceOp::sum;
  Transfer all[kMost];
  Direction directions[kMostDirections];
  std::uint32_t count = 0;  ///< of directions, whose transfers come in their order
};
using Transfers = TransferList<96>;
using FewTransfers = TransferList<4>;

/// Those of a list that has no more.
inline FewTransfers few_of(const Transfers& transfers) {
  FewTransfers few;
  few.folds = transfers.folds;
  few.type = transfers.type;
  few.op = transfers.op;
  std::copy_n(transfers.all, FewTransfers::kMost, few.all);
  std::copy_n(transfers.directions, FewTransfers::kMostDirections, few.directions);
  few.count = transfers.count;
  return few;
}

}  // namespace hocket::world
