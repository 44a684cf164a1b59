// SPDX-License-Identifier: Apache-2.0
#include "plan/well_formed.h"

namespace hocket::proof {
namespace {

Holding holding_of_input(const Request& request, Rank me) {
  switch (request.collective) {
    case Collective::all_gather:
      return Holding::own_block;
    case Collective::broadcast:
      return me == request.root ? Holding::everything : Holding::nothing;
    case Collective::send_recv:
      return request.sends || me == request.root ? Holding::everything : Holding::nothing;
    case Collective::barrier:
      return Holding::nothing;
    default:
      return Holding::everything;
  }
}

Holding holding_of_output(const Request& request, Rank me) {
  switch (request.collective) {
    case Collective::reduce_scatter:
      return Holding::own_block;
    case Collective::reduce:
      return me == request.root ? Holding::everything : Holding::nothing;
    case Collective::send_recv:
      return !request.sends || me == request.root ? Holding::everything : Holding::nothing;
    case Collective::barrier:
      return Holding::nothing;
    default:
      return Holding::everything;
  }
}

bool inside(Holding holding, Rank me, const Range& range) {
  if (range.count == 0 || holding == Holding::everything) return true;
  return holding == Holding::own_block && range.count == 1 && range.block(0) == me.value;
}

bool in_blocks(const Plan& plan, const Range& range) {
  const std::uint64_t end = std::uint64_t{range.base} + range.size;
  return range.first < range.size && range.count <= range.size && end <= plan.shape.blocks;
}

bool equally_long(const Plan& plan, const Range& a, const Range& b) {
  if (a.count != b.count) return false;
  if (a.count == 0) return true;
  if (a.count == 1) return a.block(0) == b.block(0) || plan.request.block_per_rank();
  return a.first == b.first && a.base == b.base && a.size == b.size;
}

const char* ill_sent(const Plan& plan, const Exchange& x) {
  if (x.out.count == 0 && !x.staged) return "a signal has to be staged";
  if (x.staged) return nullptr;
  if (!in_blocks(plan, x.landing())) return "lands outside the block space";
  if (!equally_long(plan, x.out, x.landing())) return "lands at positions other than its own";
  return nullptr;
}

const char* ill_local(const Plan& plan, const Request& request, const Exchange& x) {
  if (!equally_long(plan, x.out, x.in)) return "a local step of two sizes";
  const auto place = [&](Buffer b) {
    return request.in_place && b == Buffer::input ? Buffer::output : b;
  };
  const bool moves = x.out.count > 0 && x.out.block(0) != x.in.block(0);
  if (moves && place(x.out.buffer) == place(x.in.buffer))
    return "a local step moves blocks within a buffer";
  return nullptr;
}

}  // namespace

Holding holding(const Plan& plan, const Request& request, Rank me, Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return holding_of_input(request, me);
    case Buffer::output:
      return holding_of_output(request, me);
    case Buffer::scratch:
      return plan.algorithm->scratch ? Holding::everything : Holding::nothing;
  }
  return Holding::nothing;
}

const char* ill_formed(const Plan& plan, const At& at, std::uint32_t k, const Exchange& x) {
  const std::uint32_t world = plan.topology->world();
  const Request& request = at.request;
  const Rank me = at.me;
  const bool sends = x.to != kNobody, receives = x.from != kNobody;
  if ((sends && x.to.value >= world) || (receives && x.from.value >= world))
    return "names a rank outside the world";
  if ((x.to == me) != (x.from == me)) return "half a local step";
  if (x.after > k) return "waits for its own round or a later one";
  if (uses_scratch(x) && !plan.algorithm->scratch)
    return "uses scratch that the row does not claim";
  if (sends) {
    if (!in_blocks(plan, x.out)) return "sends blocks outside the block space";
    if (!inside(holding(plan, request, me, x.out.buffer), me, x.out))
      return "sends blocks that its buffer does not hold";
    if (const char* wrong = x.to == me ? ill_local(plan, request, x) : ill_sent(plan, x))
      return wrong;
  }
  if (!receives) return x.fold == Fold::none ? nullptr : "folds what does not arrive";
  if (!in_blocks(plan, x.in)) return "receives blocks outside the block space";
  if (x.in.buffer == Buffer::input) return "writes to the input";
  if (!inside(holding(plan, request, me, x.in.buffer), me, x.in))
    return "receives blocks that its buffer does not hold";
  if (x.fold != Fold::none && !inside(holding(plan, request, me, operand_of(x.fold)), me, x.in))
    return "adds to blocks that its buffer does not hold";
  return nullptr;
}

const char* disagreement(const Plan& plan, const Exchange& sent, const Exchange& received) {
  if (sent.out.count != received.in.count) return "the two ends disagree on the number of blocks";
  if (!equally_long(plan, sent.out, received.in)) return "the two ends name different blocks";
  if (sent.staged) return nullptr;
  if (received.fold != Fold::none) return "the receiver folds what lands";
  if (received.in.buffer != Buffer::output || received.in.block(0) != sent.landing().block(0))
    return "the two ends disagree on the landing";
  return nullptr;
}

}  // namespace hocket::proof
