// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

namespace hocket {
namespace {

/// Start of part `i` of `parts` of `elements`, in elements; parts differ by one element at most.
constexpr std::uint64_t cut(std::uint64_t elements, std::uint64_t i, std::uint64_t parts) {
  const std::uint64_t each = elements / parts, more = elements % parts;
  return each * i + (i < more ? i : more);
}

}  // namespace

std::uint64_t Plan::begin(std::uint32_t piece, std::uint32_t block) const {
  const std::uint64_t grain = size_of(request.type);
  if (request.block_per_rank())
    return (request.count * block + cut(request.count, piece, pieces)) * grain;
  const std::uint64_t first = cut(request.count, piece, pieces);
  const std::uint64_t last = cut(request.count, piece + 1, pieces);
  return (first + cut(last - first, block, shape.blocks)) * grain;
}

std::uint64_t Plan::end(std::uint32_t piece, std::uint32_t block) const {
  if (!request.block_per_rank()) return begin(piece, block + 1);
  return (request.count * block + cut(request.count, piece + 1, pieces)) * size_of(request.type);
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
