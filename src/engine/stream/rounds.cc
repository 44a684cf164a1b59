// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/rounds.h"

#include <algorithm>
#include <limits>
#include <span>

#include "plan/slices.h"

namespace hocket::engine::stream {
namespace {

using world::Scaling;
using world::Transfer;
using world::Transfers;

/// Of a group, in each direction: both fit into a list that folds (world::FewTransfers). A range is
/// two stretches at most, so only those of more than 4 GiB need another group.
constexpr std::size_t kMost = 2;
static_assert(2 * kMost <= world::FewTransfers::kMost);

class Expansion {
 public:
  Expansion(const Work& work, Rank me, std::uint32_t signature)
      : work_(work), piece_(work.plan, 0), me_(me), signature_(signature) {}

  void add_round(std::uint32_t k) {
    const Exchange x = work_.plan.round(me_, ChannelId{0}, k);
    if (x.from == me_) return add_local(x);
    const std::vector<Transfer> departures = this->departures(x), arrivals = this->arrivals(x);
    for (std::size_t at = 0; at < std::max(departures.size(), arrivals.size()); at += kMost) {
      Transfers& group = begin(x.fold != Fold::none);
      add(group, {.peer = peer_of(x.to), .sends = true}, some(departures, at));
      add(group, {.peer = peer_of(x.from)}, some(arrivals, at));
    }
  }

  void add_scaling(const world::Scale& scale, Scaling scaling) {
    Transfer target = transfer(scale.target.data, scale.target.size);
    target.scaling = scaling;
    const Transfer both[] = {transfer(scale.source.data, scale.source.size), target};
    add(begin(true), {.peer = peer_of(me_), .sends = true}, both);
  }

  std::vector<Transfers> take() { return std::move(groups_); }

 private:
  static std::uint8_t peer_of(Rank rank) { return static_cast<std::uint8_t>(rank.value); }
  static std::span<const Transfer> some(const std::vector<Transfer>& all, std::size_t at) {
    const std::size_t begin = std::min(at, all.size());
    return std::span(all).subspan(begin, std::min(kMost, all.size() - begin));
  }

  Transfer transfer(const std::byte* data, std::uint64_t size) const {
    return {.memory = const_cast<std::byte*>(data), .bytes = size, .signature = signature_};
  }

  std::vector<Transfer> departures(const Exchange& x) const {
    std::vector<Transfer> all;
    if (x.to == kNobody) return all;
    for (Slices slices(piece_, x.out); slices.more(); slices.next()) {
      const ConstBytes source = work_.source(x.out.buffer, slices.offset(), slices.size());
      all.push_back(transfer(source.data, source.size));
    }
    return all;
  }
  std::vector<Transfer> arrivals(const Exchange& x) const {
    std::vector<Transfer> all;
    if (x.from == kNobody) return all;
    for (Slices slices(piece_, x.in); slices.more(); slices.next())
      all.push_back(arrival(x, slices));
    return all;
  }
  Transfer arrival(const Exchange& x, const Slices& slices) const {
    const Bytes target = work_.target(x.in.buffer, slices.offset(), slices.size());
    Transfer arrival = transfer(target.data, target.size);
    if (x.fold == Fold::none) return arrival;
    const Buffer local = operand_of(x.fold);
    arrival.operand = work_.source(local, slices.offset_in(local), slices.size()).data;
    return arrival;
  }

  /// `in` = `out`, or operand + `out`.
  void add_local(const Exchange& x) {
    for (Slices slices(piece_, x.in); slices.more(); slices.next()) {
      const std::uint64_t at = slices.offset() + shift(piece_, x.in, x.out);
      const ConstBytes source = work_.source(x.out.buffer, at, slices.size());
      const Transfer both[] = {transfer(source.data, source.size), arrival(x, slices)};
      add(begin(x.fold != Fold::none), {.peer = peer_of(me_), .sends = true}, both);
    }
  }

  Transfers& begin(bool folds) {
    Transfers& group = groups_.emplace_back();
    group.folds = folds;
    group.type = work_.plan.request.type;
    group.op = work_.plan.request.op;
    return group;
  }
  static void add(Transfers& group, world::Direction direction, std::span<const Transfer> all) {
    if (all.empty()) return;
    direction.first = static_cast<std::uint16_t>(group.size());
    direction.count = static_cast<std::uint16_t>(all.size());
    std::copy(all.begin(), all.end(), group.all + direction.first);
    group.directions[group.count++] = direction;
  }

  const Work& work_;
  const Piece piece_;
  const Rank me_;
  const std::uint32_t signature_;
  std::vector<Transfers> groups_;
};

/// All ranks of a plan, each at a round.
class March {
 public:
  explicit March(const Plan& plan) : plan_(plan), ranks_(plan.topology->world()) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) enter(Rank{rank});
  }

  bool gets_to_the_end() {
    bool moves = true;
    while (moves) {
      moves = false;
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) moves |= move(Rank{rank});
    }
    return std::all_of(ranks_.begin(), ranks_.end(), [this](const Marcher& marcher) {
      return marcher.round == plan_.shape.rounds;
    });
  }

 private:
  struct Marcher {
    Exchange exchange;  // what is left of that of its round
    std::uint32_t round = 0;
  };

  /// A message goes when both its ends are there; a rank goes on when its round is over.
  bool move(Rank rank) {
    Marcher& me = ranks_[rank.value];
    bool moves = false;
    if (me.exchange.to != kNobody && ranks_[me.exchange.to.value].exchange.from == rank) {
      ranks_[me.exchange.to.value].exchange.from = kNobody;
      me.exchange.to = kNobody;
      moves = true;
    }
    while (me.round < plan_.shape.rounds && me.exchange.to == kNobody &&
           me.exchange.from == kNobody) {
      ++me.round;
      enter(rank);
      moves = true;
    }
    return moves;
  }
  void enter(Rank rank) {
    Marcher& me = ranks_[rank.value];
    me.exchange = {};
    if (me.round == plan_.shape.rounds) return;
    me.exchange = plan_.round(rank, ChannelId{0}, me.round);
    if (me.exchange.from == rank) me.exchange.from = me.exchange.to = kNobody;  // a local step
  }

  const Plan& plan_;
  std::vector<Marcher> ranks_;
};

}  // namespace

bool goes_in_step(const Plan& plan) { return March(plan).gets_to_the_end(); }

std::vector<Transfers> expand(Work work, Rank me, std::uint32_t signature) {
  work.plan.slice_bytes = std::numeric_limits<std::uint32_t>::max();
  Expansion expansion(work, me, signature);
  if (work.scales_input()) {
    const world::Scale scale = work.scale_input();
    expansion.add_scaling(scale, Scaling::before);
    work.input = scale.target.data;
  }
  for (std::uint32_t k = 0; k < work.plan.shape.rounds; ++k) expansion.add_round(k);
  if (work.divides_output(me)) expansion.add_scaling(work.divide_output(), Scaling::after);
  return expansion.take();
}

}  // namespace hocket::engine::stream
