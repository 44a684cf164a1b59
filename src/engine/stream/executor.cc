// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/executor.h"

#include <initializer_list>
#include <string_view>

#include "base/prng.h"

namespace hocket::engine::stream {
namespace {

/// An op enqueues tens of entries at most (design, section 4.1).
constexpr std::uint32_t kMostRounds = 64;

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
  TRY_VOID(check_in_place(way.plan));
  if (way.by_rounds()) return way;
  way.part_bytes = part_bytes(way.plan);
  way.limits = {device_.holds(world::Lowering::packet), device_.holds(world::Lowering::staged),
                device_.most_blocks()};
  TRY(way.manner, choose_manner(way.part_bytes, way.limits));
  way.manner.signature = signature_of(way.plan, way.manner);
  return way;
}

Result<Prepared> Executor::prepare(const Call& call) const {
  TRY(const Way way, this->way(call.request, call.algorithm));
  if (way.by_rounds()) return prepare_rounds(call, way);
  TRY(const Actions actions, lower(way.plan, me_, {call.input, call.output}, way.manner));
  return Prepared(actions);
}

Result<Prepared> Executor::prepare_rounds(const Call& call, const Way& way) const {
  const std::uint32_t rounds = way.plan.shape.rounds;
  if (rounds > kMostRounds)
    return unsupported(way.plan, std::to_string(rounds) + " rounds, each a launch; " +
                                     std::to_string(kMostRounds) + " at most");
  if (!goes_in_step(way.plan))
    return unsupported(way.plan, "its ranks would wait for one another, round by round");
  Work work{.plan = way.plan, .input = call.input, .output = call.output};
  TRY_VOID(work.settle());
  if (const std::uint64_t bytes = work.scratch_bytes(); bytes > 0) {
    TRY(work.scratch, device_.scratch(bytes));
  }
  return Prepared(expand(work, me_, signature_of(way.plan, way.manner)));
}

Result<Prepared> Executor::prepare(std::span<const Call> messages) const {
  TRY(const world::Transfers transfers, gather(messages, me_));
  return Prepared(transfers);
}

Result<void> Executor::enqueue(world::Stream stream, const Prepared& prepared) {
  if (const auto* const actions = std::get_if<Actions>(&prepared))
    return device_.enqueue(stream, std::span(actions->begin(), actions->size()));
  if (const auto* const messages = std::get_if<world::Transfers>(&prepared))
    return device_.enqueue(stream, std::span(messages, 1));
  return device_.enqueue(stream, std::span(std::get<std::vector<world::Transfers>>(prepared)));
}

}  // namespace hocket::engine::stream
