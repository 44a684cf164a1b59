// SPDX-License-Identifier: Apache-2.0
#include "plan/piece.h"

namespace hocket {
namespace {

struct Cuts {  // `parts` parts of `elements`, the first `more` of them one element longer
  std::uint64_t each, more;
  Cuts(std::uint64_t elements, std::uint64_t parts) : each(elements), more(0) {
    if (parts == 1) return;  // as in most small ops, where divisions would be felt
    each = elements / parts;
    more = elements % parts;
  }
  std::uint64_t start(std::uint64_t i) const { return each * i + std::min(i, more); }
};

}  // namespace

Piece::Piece(const Plan& plan, std::uint32_t number)
    : grain_(size_of(plan.request.type)),
      slice_bytes_(std::max(plan.slice_bytes & ~(grain_ - 1), grain_)) {
  const Request& request = plan.request;
  const Cuts cut(request.count, plan.pieces);
  const std::uint64_t elements = cut.start(number + 1) - cut.start(number);
  begin_ = cut.start(number) * grain_;
  if (request.block_per_rank()) {
    stride_ = request.count * grain_;
    gap_ = stride_ - elements * grain_;
    if (request.collective == Collective::all_gather) short_ = Buffer::input;
    if (request.collective == Collective::reduce_scatter) short_ = Buffer::output;
  } else {
    const Cuts block(elements, plan.shape.blocks);
    stride_ = block.each * grain_;
    longer_ = static_cast<std::uint32_t>(block.more);
  }
}

}  // namespace hocket
