// SPDX-License-Identifier: Apache-2.0
#include "engine/op_builder.h"

#include <algorithm>
#include <string>
#include <utility>

namespace hocket::engine {
namespace {

bool is_message(const Work& work) { return work.plan.request.collective == Collective::send_recv; }

}  // namespace

Result<void> OpBuilder::build(std::span<const Call> calls) {
  op_.phase_ = Op::Phase::queued;
  op_.done_.store(0);
  if (is_as_before(calls)) {
    renew(calls[0]);
    return kOk;
  }
  op_.works_.clear();
  op_.lanes_.clear();
  Result<void> built = build_anew(calls);
  if (!built) op_.works_.clear();
  return built;
}

Result<void> OpBuilder::build_anew(std::span<const Call> calls) {
  if (!op_.works_.reserve(calls.size())) return Error::no_memory();  // lanes point at works
  for (const Call& call : calls) {
    TRY_VOID(add_work(call));
  }
  TRY_VOID(pair_own_messages());
  TRY_VOID(lay_out_lanes());
  draw_outline(calls);
  return kOk;
}

void OpBuilder::draw_outline(std::span<const Call> calls) {
  Op::Outline outline;
  outline.enters = !std::all_of(op_.works_.begin(), op_.works_.end(), is_message);
  outline.lands = calls.size() == 1 && outline.enters;
  outline.selected = calls.size() == 1 && calls[0].algorithm == nullptr;
  for (const Work& work : op_.works_) {
    outline.scales |= work.scales_input();
    outline.divides |= work.divides_output(me_);
    outline.scratch_bytes += work.scratch_bytes();
  }
  op_.outline_ = outline;
}

// Most ops ask for what the one before them asked for, and an op that ended well is as it was, but
// for an all_reduce that averages: its request has become one in place.
bool OpBuilder::is_as_before(std::span<const Call> calls) const {
  return calls.size() == 1 && calls[0].algorithm == nullptr && op_.outline_.selected &&
         !op_.failed() && op_.works_.size() == 1 && op_.works_[0].plan.request == calls[0].request;
}

void OpBuilder::renew(const Call& call) {
  op_.works_[0].input = call.input;
  op_.works_[0].output = call.output;
  for (Lane& lane : op_.lanes_) lane.received = lane.needed = 0;
}

Result<void> OpBuilder::add_work(const Call& call) {
  const Request& request = call.request;
  const std::uint32_t world = config_.topology->world();
  if (request.root.value >= world)
    return Error(Code::invalid_argument,
                 std::string(name_of(request.collective)) + ": " +
                     (request.collective == Collective::send_recv ? "peer " : "root ") +
                     std::to_string(request.root.value) + " in a world of " +
                     std::to_string(world));
  Work work;
  work.input = call.input;
  work.output = call.output;
  TRY(work.plan, plan(request, call.algorithm));
  TRY_VOID(work.settle());
  op_.works_.add(work);
  return kOk;
}

/// Ranks may differ in being in place and must choose alike: selection does not hear of it.
Result<Plan> OpBuilder::plan(const Request& request, const Algorithm* forced) const {
  Request asked = request;
  asked.in_place = false;
  TRY(const algo::Choice choice, algo::select(*config_.tuning, asked, forced));
  return algo::plan_of(choice, *config_.topology, request);
}

/// The k-th send to oneself meets the k-th receive from oneself: the send becomes a local copy.
Result<void> OpBuilder::pair_own_messages() {
  const auto own = [this](const Work& work, bool sends) {
    return is_message(work) && work.plan.request.root == me_ && work.plan.request.sends == sends;
  };
  const auto next_receive = [&](auto from) {
    return std::find_if(from, op_.works_.end(), [&](const Work& work) { return own(work, false); });
  };
  auto receive = next_receive(op_.works_.begin());
  for (Work& send : op_.works_) {
    if (!own(send, true)) continue;
    const Request& sent = send.plan.request;
    if (receive == op_.works_.end() || !takes(receive->plan.request, sent)) return unreceived(sent);
    send.output = receive->output;
    receive->plan.shape.rounds = 0;
    receive = next_receive(++receive);
  }
  if (receive == op_.works_.end()) return kOk;
  return unsent(receive->plan.request);
}

Result<void> OpBuilder::lay_out_lanes() {
  std::uint32_t channels = 0;
  std::uint32_t messages = 0;
  for (const Work& work : op_.works_) {
    if (is_message(work)) {
      ++messages;
    } else {
      channels = std::max(channels, work.plan.channels);
    }
  }
  if (!op_.lanes_.reserve(channels + messages)) return Error::no_memory();
  for (std::uint32_t number = 0; number < channels; ++number)
    add_lane(number, ChannelId{static_cast<std::uint16_t>(number)});
  Work* newest = nullptr;  // the collectives' list is the same for all their lanes
  for (Work& work : op_.works_) {
    if (is_message(work)) continue;
    if (newest != nullptr) {
      newest->next = &work;
    } else {
      for (Lane& lane : op_.lanes_) lane.works = &work;
    }
    newest = &work;
  }
  for (Work& work : op_.works_)
    if (is_message(work)) append(lane_to(work.plan.request.root), work);
  return kOk;
}

void OpBuilder::add_lane(std::uint32_t number, ChannelId channel) {
  Lane& lane = op_.lanes_.add();
  lane.op = &op_;
  lane.number = number;
  for (world::Waiter* waiter : {&lane.send, &lane.receive}) {
    waiter->owner = me_;
    waiter->channel = channel;
  }
}

Lane& OpBuilder::lane_to(Rank peer) {
  for (Lane& lane : op_.lanes_)
    if (lane.works != nullptr && is_message(*lane.works) && lane.works->plan.request.root == peer)
      return lane;
  add_lane(0, ChannelId{config_.channels});
  return op_.lanes_.back();
}

void OpBuilder::append(Lane& lane, Work& work) {
  Work** end = &lane.works;
  while (*end != nullptr) end = &(*end)->next;
  *end = &work;
}

}  // namespace hocket::engine
