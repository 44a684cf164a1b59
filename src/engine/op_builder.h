// SPDX-License-Identifier: Apache-2.0
// Turns the calls of one submission into an op: plans each collective, pairs a group's send / recv
// calls by peer, and lays out lanes. Collectives of a group share the channels' lanes in order;
// sends and receives run beside them, one lane per peer, each in the order of its calls; sends to
// oneself meet receives from oneself, first with first. Threads: the submitting one, which has the
// op for itself. Failure: invalid_argument, naming the call; the op is then empty again.
#pragma once
#include <span>

#include "engine/communicator.h"

namespace hocket::engine {

class OpBuilder {
 public:
  OpBuilder(const Config& config, Rank me, Op& op) : config_(config), me_(me), op_(op) {}
  Result<void> build(std::span<const Call> calls);

 private:
  bool is_as_before(std::span<const Call> calls) const;
  void renew(const Call& call);
  Result<void> build_anew(std::span<const Call> calls);
  Result<void> add_work(const Call& call);
  Result<Plan> plan(const Request& request, const Algorithm* forced) const;
  Result<void> pair_own_messages();
  Result<void> lay_out_lanes();
  void draw_outline(std::span<const Call> calls);
  void add_lane(std::uint32_t number, ChannelId channel);
  Lane& lane_to(Rank peer);
  static void append(Lane& lane, Work& work);

  const Config& config_;
  const Rank me_;
  Op& op_;
};

}  // namespace hocket::engine
