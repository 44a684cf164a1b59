// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/lower.h"

#include <algorithm>
#include <string>

#include "plan/patterns.h"
#include "plan/piece.h"

namespace hocket::engine::stream {
namespace {

using world::Combine;
using world::Parts;
using world::Swap;

struct Both {
  Parts sent, received;
};

/// The plan's blocks as parts of a swap.
class Cuts {
 public:
  Cuts(const Plan& plan, Rank me) : piece_(plan, 0), request_(plan.request), me_(me.value) {
    const std::uint32_t last = plan.shape.blocks - 1;
    const std::uint64_t grain = size_of(plan.request.type);
    blocks_.size = blocks_.stride = (piece_.end(last) - piece_.begin(last)) / grain;
    const std::uint64_t elements = (piece_.end(last) - piece_.begin(0)) / grain;
    blocks_.longer = static_cast<std::uint32_t>(elements - blocks_.size * plan.shape.blocks);
  }

  /// Block p from or for rank p.
  Parts blocks() const { return blocks_; }
  /// The same for all: my block; all that a rank gives.
  Parts mine() const { return {.size = blocks_.count(me_)}; }
  Parts all() const { return {.size = request_.count}; }
  std::byte* own(std::byte* whole) const { return whole + piece_.begin(me_); }

  /// All, of the root or for it; all if this is the root.
  Parts of_root() const { return {.size = request_.count, .only = request_.root.value}; }
  Parts if_root() const { return request_.root.value == me_ ? all() : Parts{}; }

  Swap fold(const Memory& memory, const Both& parts, Combine combine) const {
    return {.input = memory.input,
            .output = memory.output,
            .sent = parts.sent,
            .received = parts.received,
            .combine = combine,
            .type = request_.type,
            .op = request_.op};
  }
  Swap store(const Memory& memory, const Both& parts) const {
    return {.input = memory.input,
            .output = memory.output,
            .sent = parts.sent,
            .received = parts.received,
            .combine = Combine::store,
            .type = request_.type};
  }

 private:
  const Piece piece_;
  const Request& request_;
  const std::uint32_t me_;
  Parts blocks_;
};

std::uint64_t most_of_packets(const Limits& limits) {
  return std::min(limits.packet, kMostPacketBytes);
}

}  // namespace

Error unsupported(const Plan& plan, const std::string& why) {
  return Error(Code::unsupported, std::string("on a stream: ") + name_of(plan.request.collective) +
                                      " " + plan.algorithm->name + ", " + plan.topology->text() +
                                      ": " + why);
}

Result<Actions> lower(const Plan& plan, Rank me, const Memory& memory, const Manner& manner) {
  const std::uint32_t world = plan.topology->world();
  if (world > world::kMostInDomain)
    return unsupported(plan,
                       "a domain has 1 to " + std::to_string(world::kMostInDomain) + " ranks");
  // Blocks of a piece may have other owners than those of the whole, and so other bits.
  if (plan.pieces != 1)
    return unsupported(plan,
                       "swaps are not cut in pieces, this plan in " + std::to_string(plan.pieces));
  const Cuts cuts(plan, me);
  Actions actions;
  const auto add = [&](const Swap& swap) {
    actions.add({.lowering = manner.lowering,
                 .blocks = manner.grid.blocks,
                 .threads = manner.grid.threads,
                 .signature = manner.signature,
                 .windows = manner.windows,
                 .swap = swap});
  };
  if (world == 1) {  // any op is a copy: the average of one operand is that operand, bit for bit
    if (memory.input != memory.output) add(cuts.store(memory, {cuts.all(), cuts.all()}));
    return actions;
  }
  switch (plan.algorithm->pattern) {
    case Pattern::none:
      return unsupported(plan, "its rounds are not known to be a swap");
    case Pattern::exchange_and_reduce:
      add(cuts.fold(memory, {cuts.all(), cuts.all()}, Combine::fold_by_rank));
      break;
    case Pattern::push_to_all:
      add(cuts.store(memory, {cuts.all(), cuts.blocks()}));
      break;
    case Pattern::push_reduce_push: {
      std::byte* const own = cuts.own(memory.output);
      add(cuts.fold({memory.input, own}, {cuts.blocks(), cuts.mine()}, Combine::fold_by_round));
      add(cuts.store({own, memory.output}, {cuts.mine(), cuts.blocks()}));
      break;
    }
    case Pattern::push_and_reduce:
      add(cuts.fold(memory, {cuts.blocks(), cuts.mine()}, Combine::fold_by_round));
      break;
    case Pattern::exchange_blocks:
      add(cuts.store(memory, {cuts.blocks(), cuts.blocks()}));
      break;
    case Pattern::push_from_root:
      add(cuts.store(memory, {cuts.if_root(), cuts.of_root()}));
      break;
    case Pattern::push_to_root:
      add(cuts.fold(memory, {cuts.of_root(), cuts.if_root()}, Combine::fold_by_round));
      break;
    case Pattern::signal_all:
      add(cuts.store(memory, {}));
      break;
  }
  return actions;
}

std::uint64_t part_bytes(const Plan& plan) {
  const Piece piece(plan, 0);
  return piece.end(0) - piece.begin(0);
}

Result<world::Lowering> choose_lowering(std::uint64_t bytes, const Limits& limits) {
  const std::uint64_t packet = most_of_packets(limits);
  if (bytes <= packet) return world::Lowering::packet;
  if (limits.staged > 0) return world::Lowering::staged;
  return Error(Code::unsupported, "on a stream: parts of " + std::to_string(bytes) +
                                      " bytes; packets take up to " + std::to_string(packet) +
                                      ", and there is no staging");
}

std::uint32_t windows_of(std::uint64_t bytes, std::uint64_t staged) {
  return static_cast<std::uint32_t>(bytes == 0 ? 1 : 1 + (bytes - 1) / staged);
}

Grid choose_grid(world::Lowering lowering, std::uint64_t bytes, const Limits& limits) {
  constexpr Grid kStaged = {64, 512};
  if (lowering == world::Lowering::staged)
    return {std::min(kStaged.blocks, limits.blocks), kStaged.threads};
  const std::uint64_t most = std::min(32u, limits.blocks);
  constexpr Grid kOne;
  const std::uint64_t whole = kOne.threads * sizeof(std::uint64_t);  // a packet for each thread
  const std::uint64_t blocks = std::clamp<std::uint64_t>((bytes + whole - 1) / whole, 1, most);
  return {static_cast<std::uint32_t>(blocks), kOne.threads};
}

Result<Manner> choose_manner(std::uint64_t bytes, const Limits& limits) {
  Manner manner;
  TRY(manner.lowering, choose_lowering(bytes, limits));
  manner.grid = choose_grid(manner.lowering, bytes, limits);
  if (manner.lowering == world::Lowering::staged) manner.windows = windows_of(bytes, limits.staged);
  return manner;
}

std::string explain(const Manner& manner, std::uint64_t bytes, const Limits& limits) {
  const auto many = [](std::uint32_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::string text = "packets take parts up to " + std::to_string(most_of_packets(limits)) +
                     " bytes, these have " + std::to_string(bytes) + ": ";
  if (manner.lowering == world::Lowering::staged)
    text += "staging of " + std::to_string(limits.staged) + " bytes, " +
            many(manner.windows, "window") + ", ";
  return text + many(manner.grid.blocks, "block") + " of " + many(manner.grid.threads, "thread");
}

}  // namespace hocket::engine::stream
