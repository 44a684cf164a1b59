// SPDX-License-Identifier: Apache-2.0
// The canonical expansion of each pattern: the rounds that a row which names the pattern must
// equal, exchange for exchange. The stream executor knows each pattern as a swap or two
// (engine/stream/lower.h); everybody else sees rounds.
//
//   exchange_and_reduce  all_reduce of few bytes: everybody sends all to all and adds everything,
//                        in rank order, so that all agree bit for bit
//   push_to_all          all_gather: everybody sends its block to all
//   push_reduce_push     all_reduce: everybody sends each owner its part, owners add and send the
//                        sums to all
//   push_and_reduce      reduce_scatter: everybody sends each owner its part, owners add
//   exchange_blocks      alltoall: everybody sends everybody its block
//   push_from_root       broadcast: the root sends all to everybody
//   push_to_root         reduce: everybody sends all to the root, which adds
//   signal_all           barrier: everybody sends everybody a signal
//
// Threads: pure functions.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket {

struct Expansion {
  Collective collective;
  FoldOrder fold_order;
  Shape (*shape)(const Topology&);
  Exchange (*round)(const At&, std::uint32_t k);
};

/// Null for Pattern::none.
const Expansion* expansion(Pattern pattern);
const char* name_of(Pattern pattern);

namespace exchange_and_reduce {
Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);
}  // namespace exchange_and_reduce

namespace push_to_all {
Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);
}  // namespace push_to_all

namespace push_reduce_push {
Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);
}  // namespace push_reduce_push

namespace push_and_reduce {
Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);
}  // namespace push_and_reduce

namespace exchange_blocks {
Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);
}  // namespace exchange_blocks

namespace push_from_root {
Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);
}  // namespace push_from_root

namespace push_to_root {
Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);
}  // namespace push_to_root

namespace signal_all {
Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);
}  // namespace signal_all

}  // namespace hocket
