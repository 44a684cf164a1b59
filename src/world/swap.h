// SPDX-License-Identifier: Apache-2.0
// What a GPU does for one op of its domain. A domain is 1 to 16 GPUs of one node that reach one
// another's memory. Nearly every collective on it is one swap, or two: each rank has a part for
// each other rank, and stores the parts that it gets, or adds them up.
//
//   collective             sent, to rank p   received, from p    combined
//   all_reduce, one_shot   all               all                 added in rank order
//   all_reduce, direct     block p           my block            added by round; then as all_gather
//   all_gather             all               block p             stored
//   reduce_scatter         block p           my block            added by round
//   alltoall               block p           block p             stored
//   broadcast              all, by the root  all, from the root  stored
//   reduce                 all, to the root  all, at the root    added by round
//   barrier                nothing           nothing             stored
//
// Every rank hears from every other in every swap, be the part empty.
// So a kernel is written for swaps, once per lowering, and knows no collectives. A swap says what,
// an Action also how (design, section 2: a lowering never decides what).
// Threads, ownership: values; the buffers are the user's.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace hocket::world {

inline constexpr std::uint32_t kMostInDomain = 16;  ///< ranks

/// `size` elements for each rank, one more for the first `longer` ranks; one after another if
/// `stride` is `size`, the same ones for all if it is 0. The plan cuts blocks by the same rule.
struct Parts {
  static constexpr std::uint32_t kAll = ~std::uint32_t{0};
  std::uint64_t size = 0, stride = 0;  ///< elements
  std::uint32_t longer = 0;            ///< ranks, and only where parts lie one after another
  std::uint32_t only = kAll;           ///< the one rank that has a part; all others' are empty

  constexpr std::uint64_t begin(std::uint32_t rank) const {
    return stride * rank + (rank < longer ? rank : longer);
  }
  constexpr std::uint64_t count(std::uint32_t rank) const {
    return only == kAll || only == rank ? size + (rank < longer ? 1 : 0) : 0;
  }
  bool operator==(const Parts&) const = default;
};

enum class Combine : std::uint8_t {
  store,          ///< the part from rank p becomes received part p of the output
  fold_by_rank,   ///< part 0 op part 1 op ..., the own one among them
  fold_by_round,  ///< own part op that of me - 1 op that of me - 2 ..., modulo the domain's size
};

struct Swap {
  const std::byte* input = nullptr;  ///< of the whole of `sent`; the own part is read there as well
  std::byte* output = nullptr;       ///< of the whole of `received`; may be input, or within it,
                                     ///< where own parts coincide
  Parts sent, received;              ///< what rank p is sent, and what it sends here: to be folded,
                                     ///< the same for all, `size` long, and so is the own part
  Combine combine = Combine::store;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;  ///< of folds. avg: floats are scaled before, integers after
  bool operator==(const Swap&) const = default;
};

/// How bytes travel.
enum class Lowering : std::uint8_t {
  packet,  ///< 8 bytes of data and their flag in one store, into the peer's mailbox
  staged,  ///< plain stores into the peer's staging, a flag per block of threads
};
inline constexpr std::size_t kLowerings = 2;

constexpr const char* name_of(Lowering lowering) {
  constexpr const char* kNames[kLowerings] = {"packet", "staged"};
  return kNames[static_cast<std::size_t>(lowering)];
}

struct Action {
  Lowering lowering = Lowering::packet;
  std::uint32_t blocks = 1, threads = 1;  ///< of the launch; all ranks use the same
  /// Of the op: ranks whose signatures differ called different things.
  std::uint32_t signature = 0;
  /// Staged: parts are longer than staging and go through it in so many windows.
  std::uint32_t windows = 1;
  Swap swap = {};
};

}  // namespace hocket::world
