// SPDX-License-Identifier: Apache-2.0
// The swaps of world/swap.h's table for one rank, and what they have to do, computed on the CPU by
// device/cpu's folds. Included by tests alone.
#pragma once
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "device/cpu/fold.h"
#include "world/swap.h"

namespace hocket::cuda {

enum class Row : std::uint8_t {
  one_shot,
  direct,
  all_gather,
  reduce_scatter,
  alltoall,
  broadcast,
  reduce,
  barrier,
};
inline constexpr std::size_t kRows = 8;

constexpr const char* name_of(Row row) {
  constexpr std::array<const char*, kRows> kNames = {"all_reduce one_shot",
                                                     "all_reduce direct",
                                                     "all_gather",
                                                     "reduce_scatter",
                                                     "alltoall",
                                                     "broadcast",
                                                     "reduce",
                                                     "barrier"};
  return kNames[static_cast<std::size_t>(row)];
}
constexpr bool folds(Row row) {
  return row == Row::one_shot || row == Row::direct || row == Row::reduce_scatter ||
         row == Row::reduce;
}

/// An op of all ranks; `count` elements: the whole of an all_reduce, else of each part; a barrier
/// has none.
struct Op {
  Row row = Row::one_shot;
  std::uint32_t world = 2;
  std::uint64_t count = 0;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  bool in_place = false;
  std::uint32_t root = 0;

  std::uint32_t swaps() const { return row == Row::direct ? 2 : 1; }
  bool sends_parts() const { return row == Row::reduce_scatter || row == Row::alltoall; }
  bool gets_parts() const { return row == Row::all_gather || row == Row::alltoall; }
  std::uint64_t input_bytes() const { return bytes(sends_parts() ? world : 1); }
  std::uint64_t output_bytes() const { return bytes(gets_parts() ? world : 1); }
  std::uint64_t bytes(std::uint64_t parts) const { return parts * count * size_of(type); }
};

/// One rank's buffers; in place one of them is used, the larger one.
struct Buffers {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

inline Buffers placed(const Op& op, std::uint32_t rank, const Buffers& buffers) {
  if (!op.in_place) return buffers;
  switch (op.row) {
    case Row::all_gather:
      return {buffers.output + op.bytes(rank), buffers.output};
    case Row::reduce_scatter:
      return {buffers.input, buffers.input + op.bytes(rank)};
    default:
      return {buffers.output, buffers.output};
  }
}

inline world::Swap swap_of(const Op& op, std::uint32_t k, std::uint32_t rank,
                           const Buffers& given) {
  const Buffers b = placed(op, rank, given);
  const world::Parts all = {.size = op.count}, each = {.size = op.count, .stride = op.count};
  const std::uint64_t share = op.count / op.world;
  const world::Parts cut = {
      .size = share, .stride = share, .longer = static_cast<std::uint32_t>(op.count % op.world)};
  const world::Parts mine = {.size = cut.count(rank)}, none = {};
  const world::Parts roots = {.size = op.count, .only = op.root};
  const bool is_root = rank == op.root;
  std::byte* const my_block = b.output + cut.begin(rank) * size_of(op.type);
  const auto make = [&](const std::byte* input, const world::Parts& sent, std::byte* output,
                        const world::Parts& received, world::Combine combine) {
    return world::Swap{input, output, sent, received, combine, op.type, op.op};
  };
  switch (op.row) {
    case Row::one_shot:
      return make(b.input, all, b.output, all, world::Combine::fold_by_rank);
    case Row::direct:
      if (k == 0) return make(b.input, cut, my_block, mine, world::Combine::fold_by_round);
      return make(my_block, mine, b.output, cut, world::Combine::store);
    case Row::all_gather:
      return make(b.input, all, b.output, each, world::Combine::store);
    case Row::reduce_scatter:
      return make(b.input, each, b.output, all, world::Combine::fold_by_round);
    case Row::alltoall:
      return make(b.input, each, b.output, each, world::Combine::store);
    case Row::broadcast:
      return make(b.input, is_root ? all : none, b.output, roots, world::Combine::store);
    case Row::reduce:
      return make(b.input, roots, b.output, is_root ? all : none, world::Combine::fold_by_round);
    case Row::barrier:
      break;
  }
  return make(b.input, none, b.output, none, world::Combine::store);
}

/// Does the swaps of all ranks, one each, in host memory.
class Oracle {
 public:
  explicit Oracle(const cpu::FoldTable& folds) : folds_(folds) {}

  void run(std::span<const world::Swap> swaps) {
    // All is read before anything is written.
    std::vector<Parts> sent;
    for (const world::Swap& swap : swaps) sent.push_back(read(swap, swaps.size()));
    for (std::size_t rank = 0; rank < swaps.size(); ++rank) {
      if (swaps[rank].combine == world::Combine::store) {
        store(swaps[rank], rank, sent);
      } else {
        fold(swaps[rank], rank, sent);
      }
    }
  }

 private:
  using Bytes = std::vector<std::byte>;
  using Parts = std::vector<Bytes>;  ///< by the rank it is for

  static Parts read(const world::Swap& swap, std::size_t world) {
    const std::uint64_t size = size_of(swap.type);
    Parts parts;
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      const std::byte* const begin = swap.input + swap.sent.begin(rank) * size;
      parts.emplace_back(begin, begin + swap.sent.count(rank) * size);
    }
    return parts;
  }

  static void write(const world::Swap& swap, std::uint32_t from, const Bytes& part) {
    if (part.empty()) return;
    std::memcpy(swap.output + swap.received.begin(from) * size_of(swap.type), part.data(),
                part.size());
  }

  static void store(const world::Swap& swap, std::size_t rank, const std::vector<Parts>& sent) {
    for (std::uint32_t from = 0; from < sent.size(); ++from) write(swap, from, sent[from][rank]);
  }

  void fold(const world::Swap& swap, std::size_t rank, const std::vector<Parts>& sent) const {
    const auto world = static_cast<std::uint32_t>(sent.size());
    const bool by_rank = swap.combine == world::Combine::fold_by_rank;
    const bool is_average = swap.op == ReduceOp::avg;
    Bytes sum;
    for (std::uint32_t k = 0; k < world; ++k) {
      Bytes part = sent[by_rank ? k : (rank + world - k) % world][rank];
      const std::uint64_t count = part.size() / size_of(swap.type);
      if (is_average && is_float(swap.type)) scale(swap.type, part, world);
      if (k > 0) folds_.fold(swap.type, swap.op, {part.data(), sum.data(), part.data(), count});
      sum = std::move(part);
    }
    if (is_average && !is_float(swap.type)) scale(swap.type, sum, world);
    write(swap, static_cast<std::uint32_t>(rank), sum);
  }

  void scale(DataType type, Bytes& part, std::uint32_t world) const {
    folds_.scale(type, {part.data(), part.data(), part.size() / size_of(type), world});
  }

  const cpu::FoldTable& folds_;
};

}  // namespace hocket::cuda
