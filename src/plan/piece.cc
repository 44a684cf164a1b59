// SPDX-License-Identifier: Apache-2.0
#include "plan/piece.h"

namespace hocket {
namespace {

struct Cuts {  // `parts` parts of `elements`, the first `more` of them one element longer
  std::uint64_t each, more;
  Cuts(std::uint64_t elements, std::uint64_t parts)
      : each(elements / parts), more(elements % parts) {}
  std::uint64_t start(std::uint64_t i) const { return each * i + std::min(i, more); }
};

}  // namespace

Piece::Piece(const Plan& plan, std::uint32_t number)
    : plan_(&plan), grain_(size_of(plan.request.type)) {
  const Request& request = plan.request;
  const Cuts cut(request.count, plan.pieces);
  const std::uint64_t elements = cut.start(number + 1) - cut.start(number);
  begin_ = cut.start(number) * grain_;
  if (request.block_per_rank()) {
    stride_ = request.count * grain_;
    length_ = elements * grain_;
    apart_ = plan.pieces > 1;
    if (request.collective == Collective::all_gather) short_ = Buffer::input;
    if (request.collective == Collective::reduce_scatter) short_ = Buffer::output;
  } else {
    const Cuts block(elements, plan.shape.blocks);
    stride_ = length_ = block.each * grain_;
    longer_ = static_cast<std::uint32_t>(block.more);
  }
}

}  // namespace hocket
