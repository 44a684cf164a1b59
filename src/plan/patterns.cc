// SPDX-License-Identifier: Apache-2.0
#include "plan/patterns.h"

#include <iterator>

namespace hocket {
namespace {

Range block(std::uint32_t b, std::uint32_t blocks, Buffer buffer) {
  return {b, 1, 0, blocks, buffer};
}

Exchange local(const At& at, const Range& source, Buffer target, Fold fold) {
  Exchange x;
  x.to = x.from = at.me;
  x.out = x.in = source;
  x.in.buffer = target;
  x.lands = source.first;
  x.fold = fold;
  return x;
}

}  // namespace

// Round 0 saves the input, which the sums overwrite in place. Round 1 + r takes rank r's operand:
// the first is stored, the others are added to what is there. Sends wait for nothing else; each
// rank begins with its right-hand neighbour.
namespace exchange_and_reduce {

Shape shape(const Topology& topology) { return {1, 1 + topology.world()}; }

Exchange round(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world(), me = at.me.value;
  const bool saved = at.request.in_place;
  const Range operand = block(0, 1, saved ? Buffer::scratch : Buffer::input);
  if (k == 0) {
    if (!saved) return {};
    return local(at, block(0, 1, Buffer::input), Buffer::scratch, Fold::none);
  }
  const std::uint32_t rank = k - 1;
  const Fold fold = rank == 0 ? Fold::none : Fold::output;
  if (rank == me) return local(at, operand, Buffer::output, fold);
  const std::uint32_t to = me + (rank < me ? rank + 1 : rank);  // me + 1 .. me + world - 1
  Exchange x;
  x.to = Rank{to < world ? to : to - world};
  x.from = Rank{rank};
  x.out = operand;
  x.in = block(0, 1, Buffer::output);
  x.staged = true;
  x.fold = fold;
  x.after = saved ? 1 : 0;
  return x;
}

}  // namespace exchange_and_reduce

namespace push_to_all {

Shape shape(const Topology& topology) { return {topology.world(), topology.world()}; }

Exchange round(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world(), me = at.me.value;
  const Range own = block(me, world, Buffer::input);
  if (k == 0) return local(at, own, Buffer::output, Fold::none);
  const std::uint32_t from = (me + world - k) % world;
  Exchange x;
  x.to = Rank{(me + k) % world};
  x.from = Rank{from};
  x.out = own;
  x.in = block(from, world, Buffer::output);
  x.lands = me;
  return x;
}

}  // namespace push_to_all

namespace push_reduce_push {

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, world == 1 ? 1 : 2 * (world - 1)};
}

Exchange round(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world(), me = at.me.value;
  if (k + 1 < world || world == 1) return push_and_reduce::round(at, k);
  const std::uint32_t distance = k + 2 - world;
  const std::uint32_t from = (me + world - distance) % world;
  Exchange x;
  x.to = Rank{(me + distance) % world};
  x.from = Rank{from};
  x.out = block(me, world, Buffer::output);
  x.in = block(from, world, Buffer::output);
  x.lands = me;
  x.after = world - 1;
  return x;
}

}  // namespace push_reduce_push

// Round k takes the operand of the rank k + 1 before: an owner adds the others' to its own.
namespace push_and_reduce {

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {world, world == 1 ? 1 : world - 1};
}

Exchange round(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world(), me = at.me.value;
  if (world == 1) return local(at, block(0, 1, Buffer::input), Buffer::output, Fold::none);
  const std::uint32_t to = (me + k + 1) % world;
  Exchange x;
  x.to = Rank{to};
  x.from = Rank{(me + world - k - 1) % world};
  x.out = block(to, world, Buffer::input);
  x.in = block(me, world, Buffer::output);
  x.lands = to;
  x.staged = true;
  x.fold = k == 0 ? Fold::input : Fold::output;
  return x;
}

}  // namespace push_and_reduce

namespace exchange_blocks {

Shape shape(const Topology& topology) { return {topology.world(), topology.world()}; }

Exchange round(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world(), me = at.me.value;
  if (k == 0) return local(at, block(me, world, Buffer::input), Buffer::output, Fold::none);
  const std::uint32_t to = (me + k) % world, from = (me + world - k) % world;
  Exchange x;
  x.to = Rank{to};
  x.from = Rank{from};
  x.out = block(to, world, Buffer::input);
  x.in = block(from, world, Buffer::output);
  x.lands = me;
  return x;
}

}  // namespace exchange_blocks

// Round k is about the rank k places beyond the root; in round 0 the root keeps its own.
namespace push_from_root {

Shape shape(const Topology& topology) { return {1, topology.world()}; }

Exchange round(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world();
  const Rank root = at.request.root;
  const Rank other{(root.value + k) % world};
  Exchange x;
  if (at.me == root) {
    if (k == 0) return local(at, block(0, 1, Buffer::input), Buffer::output, Fold::none);
    x.to = other;
    x.out = block(0, 1, Buffer::input);
  } else if (at.me == other) {
    x.from = root;
    x.in = block(0, 1, Buffer::output);
  }
  return x;
}

}  // namespace push_from_root

// Round k takes the operand of the rank k + 1 before the root, which adds it to its own.
namespace push_to_root {

Shape shape(const Topology& topology) {
  const std::uint32_t world = topology.world();
  return {1, world == 1 ? 1 : world - 1};
}

Exchange round(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world();
  const Rank root = at.request.root;
  if (world == 1) return local(at, block(0, 1, Buffer::input), Buffer::output, Fold::none);
  const Rank other{(root.value + world - k - 1) % world};
  Exchange x;
  if (at.me == root) {
    x.from = other;
    x.in = block(0, 1, Buffer::output);
    x.fold = k == 0 ? Fold::input : Fold::output;
  } else if (at.me == other) {
    x.to = root;
    x.out = block(0, 1, Buffer::input);
    x.staged = true;
  }
  return x;
}

}  // namespace push_to_root

namespace signal_all {

Shape shape(const Topology& topology) { return {1, topology.world() - 1}; }

Exchange round(const At& at, std::uint32_t k) {
  const std::uint32_t world = at.topology.world(), me = at.me.value;
  Exchange x;
  x.to = Rank{(me + k + 1) % world};
  x.from = Rank{(me + world - k - 1) % world};
  x.staged = true;
  return x;
}

}  // namespace signal_all

namespace {

constexpr Expansion kExpansions[] = {
    // in the order of Pattern, from its second
    {Collective::all_reduce, FoldOrder::ranks, exchange_and_reduce::shape,
     exchange_and_reduce::round},
    {Collective::all_gather, FoldOrder::rounds, push_to_all::shape, push_to_all::round},
    {Collective::all_reduce, FoldOrder::rounds, push_reduce_push::shape, push_reduce_push::round},
    {Collective::reduce_scatter, FoldOrder::rounds, push_and_reduce::shape, push_and_reduce::round},
    {Collective::alltoall, FoldOrder::rounds, exchange_blocks::shape, exchange_blocks::round},
    {Collective::broadcast, FoldOrder::rounds, push_from_root::shape, push_from_root::round},
    {Collective::reduce, FoldOrder::rounds, push_to_root::shape, push_to_root::round},
    {Collective::barrier, FoldOrder::rounds, signal_all::shape, signal_all::round},
};
static_assert(std::size(kExpansions) == kPatterns - 1);

}  // namespace

const Expansion* expansion(Pattern pattern) {
  return pattern == Pattern::none ? nullptr : &kExpansions[static_cast<std::size_t>(pattern) - 1];
}

const char* name_of(Pattern pattern) {
  constexpr const char* kNames[kPatterns] = {"none",
                                             "exchange_and_reduce",
                                             "push_to_all",
                                             "push_reduce_push",
                                             "push_and_reduce",
                                             "exchange_blocks",
                                             "push_from_root",
                                             "push_to_root",
                                             "signal_all"};
  return kNames[static_cast<std::size_t>(pattern)];
}

}  // namespace hocket
