// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <algorithm>

namespace hocket {
namespace {

struct Cuts {  // `parts` parts of `elements`, which differ by one element at most
  std::uint64_t each, more;
  Cuts(std::uint64_t elements, std::uint64_t parts)
      : each(elements / parts), more(elements % parts) {}
  std::uint64_t start(std::uint64_t i) const { return each * i + std::min(i, more); }
};

}  // namespace

Plan::Stretch Plan::stretch(std::uint32_t piece, std::uint32_t first, std::uint32_t last) const {
  const std::uint64_t grain = size_of(request.type);
  std::uint64_t begin = 0, end = request.count;
  if (pieces > 1) {
    const Cuts cut(request.count, pieces);
    begin = cut.start(piece);
    end = cut.start(piece + 1);
  }
  if (request.block_per_rank())
    return {(request.count * first + begin) * grain, (request.count * last + end) * grain};
  const Cuts block(end - begin, shape.blocks);
  return {(begin + block.start(first)) * grain, (begin + block.start(last + 1)) * grain};
}

std::uint64_t Plan::origin(Buffer buffer, std::uint32_t block) const {
  const bool one = (buffer == Buffer::input && request.collective == Collective::all_gather) ||
                   (buffer == Buffer::output && request.collective == Collective::reduce_scatter);
  return one ? request.count * block * size_of(request.type) : 0;
}

Plan make_plan(const Algorithm& algorithm, const Topology& topology, const Request& request) {
  Plan plan;
  plan.algorithm = &algorithm;
  plan.topology = &topology;
  plan.request = request;
  plan.shape = algorithm.shape(topology);
  return plan;
}

}  // namespace hocket
