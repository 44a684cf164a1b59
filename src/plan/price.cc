// SPDX-License-Identifier: Apache-2.0
#include "plan/price.h"

#include <algorithm>

#include "plan/recurrence.h"

namespace hocket {
namespace {

using internal::Followed;
using internal::Moment;
using internal::Recurrence;

/// What `rank` does in a round, as seen from itself: who, by distance, and how much.
struct Turned {
  std::uint32_t to, from, out, in, after;
  bool rail_out, rail_in, wraps_out, wraps_in, staged;
  Fold fold;
  bool operator==(const Turned&) const = default;
};

Turned turned(const Plan& plan, Rank rank, ChannelId channel, std::uint32_t k) {
  const Topology& topology = *plan.topology;
  const std::uint32_t world = topology.world();
  const Exchange x = plan.round(rank, channel, k);
  const auto distance = [&](Rank peer) {
    return peer == kNobody ? world : (peer.value + world - rank.value) % world;
  };
  const auto rail = [&](Rank peer) {
    return peer != kNobody && topology.between(rank, peer) == LinkClass::rail;
  };
  const auto wraps = [](const Range& range) { return range.first + range.count > range.size; };
  return {distance(x.to), distance(x.from), x.out.count, x.in.count, x.after, rail(x.to),
          rail(x.from),   wraps(x.out),     wraps(x.in), x.staged,   x.fold};
}

constexpr std::uint32_t kRoundsCompared = 64;

bool alike(const Plan& plan, Rank a, Rank b) {
  const std::uint32_t rounds = plan.shape.rounds, compared = std::min(rounds, kRoundsCompared);
  for (std::uint32_t c = 0; c < plan.channels; ++c)
    for (std::uint32_t i = 0; i < compared; ++i) {
      const auto k = static_cast<std::uint32_t>(std::uint64_t{i} * rounds / compared);
      const ChannelId channel{static_cast<std::uint16_t>(c)};
      if (turned(plan, a, channel, k) != turned(plan, b, channel, k)) return false;
    }
  return true;
}

/// Whether ranks `period` apart do the same; some are asked: the next, the middle and the last.
bool repeats(const Plan& plan, std::uint32_t period) {
  const std::uint32_t times = plan.topology->world() / period;
  for (std::uint32_t member = 0; member < period; ++member)
    for (const std::uint32_t turn : {1u, times / 2, times - 1})
      if (!alike(plan, Rank{member}, Rank{member + turn % times * period})) return false;
  return true;
}

bool even(const Plan& plan) {
  const std::uint64_t parts =
      plan.request.block_per_rank() ? plan.pieces : std::uint64_t{plan.pieces} * plan.shape.blocks;
  return plan.request.count % parts == 0;
}

/// More messages a rank than rounds, from cutting what it sends into slices. About twice the block
/// space crosses a rank's ports.
std::uint64_t slices(const Plan& plan) { return 2 * plan.total_bytes() / plan.slice_bytes; }

std::uint64_t messages(const Plan& plan, std::uint64_t ranks) {
  return ranks * (std::uint64_t{plan.pieces} * plan.shape.rounds + slices(plan));
}

Price as_price(const Moment& m) { return {m.at, m.alpha, m.beta, m.gamma, m.cpu, false, nullptr}; }

/// The slowest hop, `depth` times, and once more per further piece or slice, which travel behind
/// one another.
Price by_depth(const Plan& plan, const Costs& costs, const char* why) {
  const Topology& topology = *plan.topology;
  const LinkCost& link = costs.of(topology.nodes() > 1 ? LinkClass::rail : LinkClass::node);
  const std::uint64_t bytes = plan.total_bytes() / plan.pieces;
  const std::uint64_t cuts = std::max<std::uint64_t>(1, bytes / plan.slice_bytes) * plan.pieces;
  const bool folds = plan.request.collective != Collective::broadcast;
  const Picoseconds depth = plan.algorithm->depth(topology);
  Price hop;
  hop.alpha = link.alpha * depth;
  hop.beta = link.time(bytes) * (depth + plan.pieces - 1);
  hop.gamma = folds ? costs.fold(bytes) * depth : 0;
  hop.cpu = 2 * costs.message * (depth + cuts - 1);
  hop.time = hop.alpha + hop.beta + hop.gamma + hop.cpu;
  hop.exact = false;
  hop.why = why;
  return hop;
}

/// From two spread samples of the rounds to all of them: the price of long plans is affine in their
/// number.
Price extrapolated(const Plan& plan, const Costs& costs, std::uint32_t sample) {
  const Moment all = Recurrence(plan, costs, {1, sample}).run();
  const Moment half = Recurrence(plan, costs, {1, sample / 2}).run();
  const double more = static_cast<double>(plan.shape.rounds - sample) / (sample - sample / 2);
  const auto extend = [&](Picoseconds Moment::* part) {
    const double step = static_cast<double>(all.*part) - static_cast<double>(half.*part);
    return static_cast<Picoseconds>(
        std::max(0.0, static_cast<double>(all.*part) + step * more + 0.5));
  };
  return {
      extend(&Moment::at),
      extend(&Moment::alpha),
      extend(&Moment::beta),
      extend(&Moment::gamma),
      extend(&Moment::cpu),
      false,
      "an estimate: extrapolated from some of its rounds, as if each rank did what rank 0 does"};
}

/// The ranks to follow so that the price is exact; 0: too many.
std::uint32_t ranks_to_follow(const Plan& plan, std::uint64_t most_messages) {
  const Topology& topology = *plan.topology;
  const std::uint32_t world = topology.world();
  if (even(plan)) {
    if (messages(plan, 1) <= most_messages && repeats(plan, 1)) return 1;
    const std::uint32_t node = topology.uniform() ? topology.ranks_per_node() : world;
    if (node < world && messages(plan, node) <= most_messages && repeats(plan, node)) return node;
  }
  return messages(plan, world) <= most_messages ? world : 0;
}

/// Where following enough ranks takes too long.
Price estimated(const Plan& plan, const Costs& costs, std::uint64_t most_messages) {
  if (plan.algorithm->depth(*plan.topology) > 1)
    return by_depth(plan, costs,
                    "an estimate: too long a chain; its slowest hop is priced again and again");
  const std::uint64_t sample = most_messages / 2 / plan.pieces;
  if (plan.shape.rounds > std::max<std::uint64_t>(sample, kRoundsCompared))
    return extrapolated(plan, costs, static_cast<std::uint32_t>(sample));
  Recurrence recurrence(plan, costs, {1, plan.shape.rounds});
  Price result = as_price(recurrence.run());
  result.why = "an estimate: all ranks are priced as rank 0";
  return result;
}

/// Empty when the price of what was followed is exact. Credits are enough when they cover an
/// exchange and the one before.
const char* why_estimate(const Plan& plan, const Costs& costs, const Recurrence& followed) {
  if (plan.channels > 1 || plan.pieces > 1)
    return "an estimate: it supposes credits enough for channels and pieces that overlap";
  if (2 * followed.most_slices() > costs.credits)
    return "an estimate: it supposes credits enough for all slices";
  return nullptr;
}

/// Who comes first when messages meet at a port depends on the ranks; so then all are followed.
Price followed(const Plan& plan, const Costs& costs, std::uint32_t period,
               std::uint64_t most_messages) {
  const std::uint32_t world = plan.topology->world();
  Recurrence recurrence(plan, costs, {period, plan.shape.rounds});
  Price result = as_price(recurrence.run());
  if (period < world && (recurrence.tied() || !recurrence.complete())) {
    if (messages(plan, world) <= most_messages) return followed(plan, costs, world, most_messages);
    result.why = "an estimate: it supposes that all ranks do the same";
    return result;
  }
  result.why = why_estimate(plan, costs, recurrence);
  if (result.why != nullptr) return result;
  result.exact = true;
  result.why = period == world ? "exact: every rank was followed"
               : period == 1   ? "exact: all ranks do the same"
                               : "exact: all nodes do the same";
  return result;
}

}  // namespace

Price price(const Plan& plan, const Costs& costs, std::uint64_t most_messages) {
  if (plan.shape.rounds == 0) return {.why = "exact: nothing is sent"};
  if (plan.request.collective == Collective::send_recv)
    return by_depth(plan, costs, "an estimate: one message over the slowest link");
  Plan priced = plan;
  Costs scaled = costs;
  // Slices beyond number are priced as fewer, each with the CPU time of those it stands for.
  const std::uint64_t most_slices = std::max<std::uint64_t>(most_messages / 4, 64);
  if (slices(plan) > most_slices) {
    const std::uint64_t factor = (slices(plan) + most_slices - 1) / most_slices;
    priced.slice_bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(plan.slice_bytes * factor, std::uint64_t{1} << 31));
    scaled.message *= priced.slice_bytes / plan.slice_bytes;
  }
  const std::uint32_t period = ranks_to_follow(priced, most_messages);
  if (period == 0) return estimated(priced, scaled, most_messages);
  return followed(priced, scaled, period, most_messages);
}

}  // namespace hocket
