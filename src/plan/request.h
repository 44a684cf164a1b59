// SPDX-License-Identifier: Apache-2.0
// What a rank asks for, without its memory: the user's arguments as a value. A plan is made from
// the rank's own request alone. Counts are elements, per collective as in the table; the block
// space is what algorithms cut into blocks, `total_bytes` long.
//
//   collective      count is          input holds      output holds
//   all_reduce      of the buffer     count            count
//   all_gather      of one rank       count            count x world
//   reduce_scatter  of one rank       count x world    count
//   broadcast       of the buffer     count (root)     count
//   reduce          of the buffer     count            count (root)
//   alltoall        of one pair       count x world    count x world
//   barrier         0                 -                -
//   send_recv       of the message    count (sender)   count (receiver)
#pragma once
#include <cstdint>

#include "base/ids.h"
#include "base/types.h"

namespace hocket {

struct Request {
  Collective collective = Collective::all_reduce;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  bool in_place = false;    ///< input and output share memory as the collective defines it
  bool sends = false;       ///< send_recv: this rank sends
  Rank root{0};             ///< broadcast, reduce: the root; send_recv: the peer
  std::uint64_t count = 0;  ///< elements, see above

  /// Whether blocks are the user's (one per rank) rather than cut by the plan.
  constexpr bool block_per_rank() const {
    return collective == Collective::all_gather || collective == Collective::reduce_scatter ||
           collective == Collective::alltoall;
  }
  /// Bytes of the block space.
  constexpr std::uint64_t total_bytes(std::uint32_t world) const {
    return count * size_of(type) * (block_per_rank() ? world : 1);
  }
  bool operator==(const Request&) const = default;
};

}  // namespace hocket
