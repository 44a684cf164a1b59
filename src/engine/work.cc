// SPDX-License-Identifier: Apache-2.0
#include "engine/work.h"

#include <string>

namespace hocket::engine {
namespace {

constexpr std::uint64_t round_up(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }

std::string size_text(const Request& request) {
  return std::to_string(request.count) + " " + name_of(request.type);
}

}  // namespace

Result<void> check_in_place(const Plan& plan) {
  if (!plan.request.in_place || plan.algorithm->in_place) return kOk;
  return Error(Code::unsupported, std::string(name_of(plan.request.collective)) + ": algorithm '" +
                                      plan.algorithm->name + "' does not work in place");
}

Result<void> Work::settle() {
  if (plan.request.collective == Collective::all_reduce && scales_input())
    plan.request.in_place = true;
  return check_in_place(plan);
}

bool Work::averages() const {
  const Request& r = plan.request;
  const bool reduces = r.collective == Collective::all_reduce ||
                       r.collective == Collective::reduce ||
                       r.collective == Collective::reduce_scatter;
  return reduces && r.op == ReduceOp::avg && plan.topology->world() > 1;
}

bool Work::divides_output(Rank me) const {
  const Request& r = plan.request;
  const bool has_output = r.collective != Collective::reduce || r.root == me;
  return averages() && !is_float(r.type) && has_output;
}

world::Scale Work::scale_input() const {
  world::Scale scale{plan.request.type, {}, {input, input_bytes()}, plan.topology->world()};
  const bool apart = input_scratch() > 0;
  std::byte* const target = !apart ? output : scratch ? scratch + plan_scratch() : nullptr;
  scale.target = {target, input_bytes()};
  return scale;
}

world::Scale Work::divide_output() const {
  const Bytes all{output, output_bytes()};
  return {plan.request.type, all, all, plan.topology->world()};
}

std::uint64_t Work::plan_scratch() const {
  return plan.algorithm->scratch ? round_up(plan.total_bytes()) : 0;
}

std::uint64_t Work::input_scratch() const {
  const bool apart = scales_input() && plan.request.collective != Collective::all_reduce;
  return apart ? round_up(input_bytes()) : 0;
}

std::uint64_t Work::input_bytes() const { return plan.total_bytes(); }

std::uint64_t Work::output_bytes() const {
  const bool one = plan.request.collective == Collective::reduce_scatter;
  return one ? plan.request.count * size_of(plan.request.type) : plan.total_bytes();
}

bool takes(const Request& receive, const Request& send) {
  return send.count == receive.count && send.type == receive.type;
}

Error unreceived(const Request& send) {
  return Error(
      Code::invalid_argument,
      "send of " + size_text(send) + " to oneself without a receive of as many in the same group");
}

Error unsent(const Request& receive) {
  return Error(Code::invalid_argument,
               "recv of " + size_text(receive) + " from oneself without a send in the same group");
}

}  // namespace hocket::engine
