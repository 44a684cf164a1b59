// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/executor.h"

#include <initializer_list>
#include <string_view>

#include "base/prng.h"

namespace hocket::engine::stream {
namespace {

/// Of all that ranks have to call alike.
std::uint32_t signature_of(const Plan& plan, const Manner& manner) {
  Hash hash;
  const Request& request = plan.request;
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(request.collective), static_cast<std::uint64_t>(request.type),
        static_cast<std::uint64_t>(request.op), std::uint64_t{request.root.value}, request.count,
        static_cast<std::uint64_t>(manner.lowering), std::uint64_t{manner.grid.blocks},
        std::uint64_t{manner.grid.threads}})
    hash.add(value);
  hash.add_all(std::string_view(plan.algorithm->name));
  return static_cast<std::uint32_t>(hash.value() ^ hash.value() >> 32);
}

}  // namespace

Result<Executor::Way> Executor::way(const Request& request, const Algorithm* forced) const {
  Request asked = request;
  asked.in_place = false;  // ranks may differ in it, and must choose alike
  TRY(const algo::Choice choice, algo::select(*config_->tuning, asked, forced));
  Way way{.plan = make_plan(*choice.algorithm, *config_->topology, request)};
  if (request.in_place && !choice.algorithm->in_place)
    return Error(Code::unsupported, std::string(name_of(request.collective)) + ": algorithm '" +
                                        choice.algorithm->name + "' does not work in place");
  way.part_bytes = part_bytes(way.plan);
  way.limits = {device_.holds(world::Lowering::packet), device_.holds(world::Lowering::staged),
                device_.most_blocks()};
  TRY(way.manner, choose_manner(way.part_bytes, way.limits));
  way.manner.signature = signature_of(way.plan, way.manner);
  return way;
}

Result<Actions> Executor::prepare(const Call& call) const {
  TRY(const Way way, this->way(call.request, call.algorithm));
  return lower(way.plan, me_, {call.input, call.output}, way.manner);
}

}  // namespace hocket::engine::stream
