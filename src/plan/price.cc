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

Price as_price(const Moment& m) { return {m.at, m.alpha, m.beta, m.gamma, m.cpu, false, nullptr}; }

/// Messages of one piece that the busiest rank sends or receives; the root, where there is one.
std::uint64_t busiest(const Plan& plan) {
  const Rank root = plan.request.root;
  std::uint64_t out = 0, in = 0;
  for (std::uint32_t k = 0; k < plan.shape.rounds; ++k) {
    const Exchange x = plan.round(root, ChannelId{0}, k);
    out += x.to != kNobody && x.to != root;
    in += x.from != kNobody && x.from != root;
  }
  return std::max({out, in, std::uint64_t{1}});
}

/// The slowest hop, `depth` times, and for each further piece what its busiest rank needs for it.
Price by_depth(const Plan& plan, const Costs& costs, const char* why) {
  const Topology& topology = *plan.topology;
  const LinkCost& link = costs.of(topology.nodes() > 1 ? LinkClass::rail : LinkClass::node);
  const bool folds = plan.request.collective == Collective::reduce;
  const std::uint64_t piece = plan.total_bytes() / plan.pieces;
  const std::uint64_t cuts = std::max<std::uint64_t>(1, piece / plan.slice_bytes);
  const Picoseconds depth = plan.algorithm->depth(topology);
  const Picoseconds passes = depth + (plan.pieces - 1) * busiest(plan);
  Price price;
  price.alpha = link.alpha * depth;
  price.beta = link.time(piece) * passes;
  price.gamma = folds ? costs.fold(piece) * passes : 0;
  price.cpu = 2 * costs.message * cuts * passes;
  price.time = price.alpha + price.beta + price.gamma + price.cpu;
  price.exact = false;
  price.why = why;
  return price;
}

/// Of a depth of one, so each rank hears from the root itself, or the root from it. What the root
/// sends leaves while it hands over the next; what it takes waits for its turn, and has come then.
Price by_root(const Plan& plan, const Costs& costs) {
  const Topology& topology = *plan.topology;
  const LinkCost& link = costs.of(topology.nodes() > 1 ? LinkClass::rail : LinkClass::node);
  const std::uint64_t piece = plan.total_bytes() / plan.pieces;
  const std::uint64_t cuts = std::max<std::uint64_t>(1, piece / plan.slice_bytes);
  const Picoseconds messages = std::uint64_t{plan.pieces} * (topology.world() - 1);
  const Picoseconds port = link.time(piece), cpu = costs.message * cuts;
  Price price;
  if (plan.request.collective == Collective::reduce) {
    price.alpha = link.alpha;
    price.beta = port * messages;
    price.gamma = costs.fold(piece) * messages;
    price.cpu = cpu * (messages + 1);
  } else {
    price.alpha = 2 * link.alpha;  // a landing waits for the entry of its target
    price.beta = port * (port < cpu ? 1 : messages);
    price.cpu = cpu * (port < cpu ? messages + 1 : 2);
  }
  price.time = price.alpha + price.beta + price.gamma + price.cpu;
  price.exact = false;
  price.why = "too many ranks to follow: the root's messages one after another";
  return price;
}

/// What is followed: the plan, in longer slices where there are too many.
struct Subject {
  Plan plan;
  const Costs& costs;
  std::uint64_t most_messages;
  std::uint32_t slice_bytes;  // the plan's own

  Followed all_rounds(std::uint32_t period) const {
    return {period, plan.shape.rounds, slice_bytes, false};
  }
  std::uint64_t messages(std::uint64_t ranks) const {
    return ranks * (std::uint64_t{plan.pieces} * plan.shape.rounds + slices(plan));
  }
  bool affords(std::uint64_t ranks) const { return messages(ranks) <= most_messages; }
};

constexpr std::uint64_t kLongestSlice = std::uint64_t{1} << 31;

std::uint64_t most_slices(std::uint64_t most_messages) {
  return std::max<std::uint64_t>(most_messages / 64, 64);
}

Subject subject_of(const Plan& plan, const Costs& costs, std::uint64_t most_messages) {
  Subject subject{plan, costs, most_messages, plan.slice_bytes};
  const std::uint64_t most = most_slices(most_messages);
  const std::uint64_t factor = (slices(plan) + most - 1) / most;
  subject.plan.slice_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      plan.slice_bytes * std::max<std::uint64_t>(factor, 1), kLongestSlice));
  // Floats are divided from the input into the output, and the rounds go on in place.
  const bool divided = internal::averages(plan) && is_float(plan.request.type);
  if (divided && plan.request.collective == Collective::all_reduce)
    subject.plan.request.in_place = true;
  return subject;
}

/// From two spread samples of the rounds to all of them: the price of long plans is affine in their
/// number.
Price extrapolated(const Subject& subject, const Followed& sample) {
  Followed part = sample;
  const Moment all = Recurrence(subject.plan, subject.costs, part).run();
  part.rounds /= 2;
  const Moment half = Recurrence(subject.plan, subject.costs, part).run();
  const double more = static_cast<double>(subject.plan.shape.rounds - sample.rounds) /
                      (sample.rounds - part.rounds);
  const auto extend = [&](Picoseconds Moment::* kind) {
    const double step = static_cast<double>(all.*kind) - static_cast<double>(half.*kind);
    return static_cast<Picoseconds>(
        std::max(0.0, static_cast<double>(all.*kind) + step * more + 0.5));
  };
  return {.time = extend(&Moment::at),
          .alpha = extend(&Moment::alpha),
          .beta = extend(&Moment::beta),
          .gamma = extend(&Moment::gamma),
          .cpu = extend(&Moment::cpu),
          .exact = false,
          .why = "extrapolated from some of its rounds, as if all nodes did the same"};
}

/// The ranks to follow so that the price is exact; 0: too many.
std::uint32_t ranks_to_follow(const Subject& subject) {
  const Topology& topology = *subject.plan.topology;
  const std::uint32_t world = topology.world();
  if (even(subject.plan)) {
    if (subject.affords(1) && repeats(subject.plan, 1)) return 1;
    const std::uint32_t node = topology.uniform() ? topology.ranks_per_node() : world;
    if (node < world && subject.affords(node) && repeats(subject.plan, node)) return node;
  }
  return subject.affords(world) ? world : 0;
}

/// Where following enough ranks takes too long: those of one node stand for all.
Price estimated(const Subject& subject) {
  const Plan& plan = subject.plan;
  const Topology& topology = *plan.topology;
  if (plan.algorithm->depth(topology) > 1)
    return by_depth(plan, subject.costs, "too long a chain to follow: its slowest hop repeated");
  const Collective collective = plan.request.collective;
  if (collective == Collective::broadcast || collective == Collective::reduce)
    return by_root(plan, subject.costs);
  const bool nodes = topology.uniform() && topology.nodes() > 1;
  Followed followed = subject.all_rounds(nodes ? topology.ranks_per_node() : 1);
  followed.smooth = true;
  const std::uint64_t most_rounds = std::max<std::uint64_t>(
      subject.most_messages / plan.pieces / followed.period, kRoundsCompared);
  if (plan.shape.rounds > most_rounds) {
    followed.rounds = static_cast<std::uint32_t>(most_rounds);
    return extrapolated(subject, followed);
  }
  Recurrence recurrence(plan, subject.costs, followed);
  Price result = as_price(recurrence.run());
  result.why = nodes ? "as if all nodes did the same" : "as if all ranks did the same";
  return result;
}

/// Null when the price of what was followed is exact.
const char* why_estimate(const Subject& subject, const Recurrence& followed) {
  if (subject.plan.channels > 1 || subject.plan.pieces > 1) return "channels and pieces overlap";
  if (subject.plan.slice_bytes != subject.slice_bytes) return "slices were followed in longer ones";
  if (followed.starved()) return "it supposes more credits than there are";
  return nullptr;
}

/// Who comes first when messages meet at a port depends on the ranks; so then all are followed.
Price followed(const Subject& subject, std::uint32_t period) {
  const std::uint32_t world = subject.plan.topology->world();
  Recurrence recurrence(subject.plan, subject.costs, subject.all_rounds(period));
  Price result = as_price(recurrence.run());
  if (period < world && (recurrence.tied() || !recurrence.complete())) {
    if (subject.affords(world)) return followed(subject, world);
    result.why = "as if all ranks did the same";
    return result;
  }
  result.why = why_estimate(subject, recurrence);
  if (result.why != nullptr) return result;
  result.exact = true;
  result.why = period == world ? "every rank was followed"
               : period == 1   ? "all ranks do the same"
                               : "all nodes do the same";
  return result;
}

/// Of a plan too long for the longest slices: a shorter one, whose price but for latency grows with
/// its bytes.
Price scaled(Plan plan, const Costs& costs, std::uint64_t most_messages) {
  const std::uint64_t most_bytes = most_slices(most_messages) * kLongestSlice / 2;
  const std::uint64_t times = (plan.total_bytes() + most_bytes - 1) / most_bytes;
  plan.request.count /= times;
  Price result = price(plan, costs, most_messages);
  result.beta *= times;
  result.gamma *= times;
  result.cpu *= times;
  result.time = result.alpha + result.beta + result.gamma + result.cpu;
  result.exact = false;
  result.why = "scaled up from a shorter message";
  return result;
}

}  // namespace

Price price(const Plan& plan, const Costs& costs, std::uint64_t most_messages) {
  if (plan.shape.rounds == 0) return {.why = "nothing is sent"};
  if (plan.request.collective == Collective::send_recv)
    return by_depth(plan, costs, "one message over the slowest link");
  if (plan.total_bytes() > most_slices(most_messages) * kLongestSlice / 2)
    return scaled(plan, costs, most_messages);
  const Subject subject = subject_of(plan, costs, most_messages);
  const std::uint32_t period = ranks_to_follow(subject);
  return period == 0 ? estimated(subject) : followed(subject, period);
}

}  // namespace hocket
