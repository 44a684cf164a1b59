// SPDX-License-Identifier: Apache-2.0
#include "plan/memory.h"

#include <bit>

#include "plan/well_formed.h"

namespace hocket::proof {
namespace {

// One round of a 128-bit multiplication would do as well; this is splitmix64's finaliser.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Value operand(const Plan& plan, Rank rank, std::uint32_t block) {
  Value value;
  value.ranks = std::uint64_t{1} << rank.value;
  // What goes to whom differs in an alltoall: block b of rank r is a block of its own.
  value.block = plan.request.collective == Collective::alltoall
                    ? rank.value * plan.shape.blocks + block
                    : block;
  value.order = mix((std::uint64_t{value.block} << 32) + rank.value + 1);
  return value;
}

Value sum(const Value& local, const Value& arrived) {
  Value value = local;
  value.ranks |= arrived.ranks;
  value.order = mix(local.order + std::rotl(arrived.order, 32) * 3);
  return value;
}

void Memory::reset(const Plan& plan, std::span<const Request> requests, std::uint32_t pieces) {
  const std::uint32_t world = plan.topology->world();
  pieces_ = pieces;
  blocks_ = plan.shape.blocks;
  lanes_ = lanes_of(world);
  planes_ = 0;
  plane_[static_cast<std::uint32_t>(Buffer::output)] = planes_++;
  plane_[static_cast<std::uint32_t>(Buffer::input)] = plan.request.in_place ? 0 : planes_++;
  plane_[static_cast<std::uint32_t>(Buffer::scratch)] = plan.algorithm->scratch ? planes_++ : 0;
  const std::size_t count = std::size_t{world} * planes_ * pieces_ * blocks_;
  cells_.assign(count, {});
  touched_.assign(count * lanes_, Lane{});
  for (std::uint32_t r = 0; r < world; ++r) {
    const Holding held = holding(plan, requests[r], Rank{r}, Buffer::input);
    if (held == Holding::nothing) continue;
    const bool all = held == Holding::everything;
    for (std::uint32_t piece = 0; piece < pieces_; ++piece)
      for (std::uint32_t b = all ? 0 : r; b < (all ? blocks_ : r + 1); ++b)
        cells_[cells(Rank{r}, Buffer::input, piece) + b].value = operand(plan, Rank{r}, b);
  }
}

}  // namespace hocket::proof
