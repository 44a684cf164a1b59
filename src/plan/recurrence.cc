// SPDX-License-Identifier: Apache-2.0
#include "plan/recurrence.h"

#include <algorithm>
#include <utility>

namespace hocket::internal {
namespace {

constexpr std::uint32_t number_of(LinkClass link) { return static_cast<std::uint32_t>(link); }

}  // namespace

bool averages(const Plan& plan) {
  const Collective collective = plan.request.collective;
  const bool reduces = collective == Collective::all_reduce || collective == Collective::reduce ||
                       collective == Collective::reduce_scatter;
  return reduces && plan.request.op == ReduceOp::avg && plan.topology->world() > 1;
}

Recurrence::Recurrence(const Plan& plan, const Costs& costs, const Followed& followed)
    : plan_(plan), costs_(costs), followed_(followed), servers_(followed.period) {
  pieces_.reserve(plan.pieces);
  for (std::uint32_t piece = 0; piece < plan.pieces; ++piece) pieces_.emplace_back(plan, piece);
  lanes_.reserve(std::size_t{followed.period} * plan.channels);
  for (std::uint32_t rank = 0; rank < followed.period; ++rank)
    for (std::uint32_t channel = 0; channel < plan.channels; ++channel) {
      Lane& lane = lanes_.emplace_back(Lane{rank, channel, cursor(channel), cursor(channel)});
      settle(lane, lane.out, true);
      settle(lane, lane.in, false);
    }
}

Moment Recurrence::run() {
  for (std::uint32_t rank = 0; rank < followed_.period; ++rank) start(rank);
  while (!events_.empty()) {
    std::pop_heap(events_.begin(), events_.end());
    const Event event = events_.back();
    events_.pop_back();
    const auto kind = static_cast<Kind>(event.key % 4);
    if (kind == Kind::first_byte) {
      reach_port(event.index);
      continue;
    }
    Lane& lane = lanes_[event.index];
    Moment& cpu = servers_[lane.rank].cpu;
    cpu = later(cpu, kind == Kind::send ? lane.send_at : lane.receive_at);
    kind == Kind::send ? send(lane, event.key / 4) : receive(lane, event.key / 4);
  }
  Moment end;
  for (std::uint32_t rank = 0; rank < followed_.period; ++rank) end = later(end, finish(rank));
  return end;
}

bool Recurrence::complete() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [this](const Lane& lane) { return !more(lane.out) && !more(lane.in); });
}

Recurrence::Cursor Recurrence::cursor(std::uint32_t channel) const {
  return {.exchange = {}, .slices = Slices(pieces_[0], Range{}), .piece = channel};
}

void Recurrence::next(Lane& lane, Cursor& at) const {
  if (++at.round == followed_.rounds) {
    at.base += std::exchange(at.round, 0);
    at.piece += plan_.channels;
  }
  settle(lane, at, &at == &lane.out);
}

void Recurrence::settle(const Lane& lane, Cursor& at, bool out) const {
  if (!more(at)) return;
  const ChannelId channel{static_cast<std::uint16_t>(lane.channel)};
  const std::uint64_t round = std::uint64_t{at.round} * plan_.shape.rounds / followed_.rounds;
  at.exchange = plan_.round(Rank{lane.rank}, channel, static_cast<std::uint32_t>(round));
  const Range& range = out ? at.exchange.out : at.exchange.in;
  if (!followed_.smooth) {
    at.slices = Slices(pieces_[at.piece], range);
    return;
  }
  const Piece& piece = pieces_[at.piece];
  at.left = range.count * (piece.end(0) - piece.begin(0));
  at.signal = range.count == 0;
}

void Recurrence::next_slice(Cursor& at) const {
  if (!followed_.smooth) return at.slices.next();
  at.left -= slice(at);
  at.signal = false;
}

/// How many rounds must have been received before this one may be sent; of the plan's rounds below
/// `after`, those that are followed.
std::uint32_t Recurrence::needs(const Cursor& at) const {
  if (at.exchange.after == 0) return 0;
  const std::uint64_t spread = std::uint64_t{at.exchange.after} * followed_.rounds;
  const std::uint64_t after = (spread + plan_.shape.rounds - 1) / plan_.shape.rounds;
  return at.base + static_cast<std::uint32_t>(after);
}

void Recurrence::start(std::uint32_t rank) {
  Server& server = servers_[rank];
  if (averages(plan_) && is_float(plan_.request.type)) {
    server.compute = Moment().plus(&Moment::gamma, costs_.fold(plan_.total_bytes()));
    server.cpu = server.compute;
  }
  const Picoseconds now = server.cpu.at;
  for (std::uint32_t channel = 0; channel < plan_.channels; ++channel) {
    Lane& lane = lanes_[std::size_t{rank} * plan_.channels + channel];
    send(lane, now);
    receive(lane, now);
  }
}

/// A rank has done its part when it has taken all, and all it sent has left.
Moment Recurrence::finish(std::uint32_t rank) const {
  const Server& server = servers_[rank];
  Moment end = later(server.cpu, server.compute);
  for (const Moment& port : server.egress) end = later(end, port);
  const Request& request = plan_.request;
  const bool has_output = request.collective != Collective::reduce || request.root.value == rank;
  if (!averages(plan_) || is_float(request.type) || !has_output) return end;
  const bool one = request.collective == Collective::reduce_scatter;
  const std::uint64_t bytes = one ? request.count * size_of(request.type) : plan_.total_bytes();
  return end.plus(&Moment::gamma, costs_.fold(bytes));
}

void Recurrence::send(Lane& lane, Picoseconds now) {
  const Rank me{lane.rank};
  lane.sender_waits = false;
  for (; more(lane.out); next(lane, lane.out)) {
    const Exchange& x = lane.out.exchange;
    if (x.to == kNobody || x.to == me) continue;
    if (lane.received < needs(lane.out)) {
      lane.sender_waits = true;
      return;
    }
    const LinkClass link = plan_.topology->between(me, x.to);
    const Picoseconds entry = x.staged ? 0 : costs_.of(link).alpha;  // when that of `to` is known
    if (now < entry && more_slices(lane.out)) {
      lane.send_at = Moment().plus(&Moment::alpha, entry);
      return push(Kind::send, entry, lane.rank, static_cast<std::uint32_t>(&lane - &lanes_[0]));
    }
    for (; more_slices(lane.out); next_slice(lane.out)) {
      take_credit(lane, x.to, now);
      hand_over(lane, lane.out, link);
    }
  }
}

void Recurrence::hand_over(Lane& lane, const Cursor& at, LinkClass link) {
  Server& server = servers_[lane.rank];
  const LinkCost& cost = costs_.of(link);
  const std::uint64_t bytes = slice(at);
  spend(server.cpu, bytes);
  Moment& port = server.egress[number_of(link)];
  const Moment leaves = later(server.cpu, port);
  port = leaves.plus(&Moment::beta, cost.time(bytes));

  const Rank to = at.exchange.to, from = seen_by(to, Rank{lane.rank});
  const std::uint32_t heard = to.value % followed_.period * plan_.channels + lane.channel;
  const Message message{heard, from, link, bytes, leaves.plus(&Moment::alpha, cost.alpha)};
  std::uint32_t index = static_cast<std::uint32_t>(messages_.size());
  if (free_.empty()) {
    messages_.push_back(message);
  } else {
    index = free_.back();
    free_.pop_back();
    messages_[index] = message;
  }
  push(Kind::first_byte, message.first_byte.at, from.value, index);
}

Rank Recurrence::seen_by(Rank rank, Rank other) const {
  const std::uint32_t world = plan_.topology->world();
  const std::uint32_t turned = rank.value - rank.value % followed_.period;
  return Rank{other.value >= turned ? other.value - turned : other.value + world - turned};
}

void Recurrence::take_credit(Lane& lane, Rank to, Picoseconds now) {
  if (followed_.smooth) return;
  Credits& credits = lane.credits[to.value];
  while (credits.back < credits.times.size() && credits.times[credits.back] <= now) ++credits.back;
  starved_ |= credits.sent++ - credits.back >= costs_.credits;
}

/// The rank has done with the oldest message of that link.
void Recurrence::give_credit(const Lane& lane, Rank from) {
  if (followed_.smooth) return;
  Lane& sender = lanes_[from.value % followed_.period * plan_.channels + lane.channel];
  const LinkClass link = plan_.topology->between(Rank{lane.rank}, from);
  const Rank to = seen_by(from, Rank{lane.rank});
  sender.credits[to.value].times.push_back(servers_[lane.rank].cpu.at + costs_.of(link).alpha);
}

/// For handing over or taking a message.
void Recurrence::spend(Moment& cpu, std::uint64_t bytes) const {
  const std::uint64_t slices = (bytes + followed_.slice_bytes - 1) / followed_.slice_bytes;
  cpu = cpu.plus(&Moment::cpu, costs_.message * std::max<std::uint64_t>(slices, 1));
}

void Recurrence::reach_port(std::uint32_t index) {
  const Message message = messages_[index];
  free_.push_back(index);
  Lane& lane = lanes_[message.lane];
  Server& server = servers_[lane.rank];
  const std::uint32_t link = number_of(message.link);
  const Picoseconds first_byte = message.first_byte.at;
  tied_ |= std::exchange(server.newest[link], first_byte) == first_byte;

  Moment& port = server.ingress[link];
  port = later(message.first_byte, port)
             .plus(&Moment::beta, costs_.of(message.link).time(message.bytes));
  lane.arrivals.push_back({message.from, port});
  if (!lane.receiver_waits || lane.in.exchange.from != message.from) return;
  lane.receiver_waits = false;
  lane.receive_at = port;
  push(Kind::receive, port.at, lane.rank, message.lane);
}

void Recurrence::receive(Lane& lane, Picoseconds now) {
  if (std::exchange(lane.folding, false)) done_with_slice(lane);
  for (; more(lane.in); next(lane, lane.in)) {
    const bool receives = lane.in.exchange.from != kNobody;
    for (; receives && more_slices(lane.in); done_with_slice(lane))
      if (!take(lane, now)) return;
    ++lane.received;
    if (lane.sender_waits) send(lane, now);
  }
}

void Recurrence::done_with_slice(Lane& lane) {
  const Rank from = lane.in.exchange.from;
  if (from.value != lane.rank) give_credit(lane, from);
  next_slice(lane.in);
}

/// One slice: true when it is taken, and folded or stored.
bool Recurrence::take(Lane& lane, Picoseconds now) {
  const Exchange& x = lane.in.exchange;
  const std::uint64_t bytes = slice(lane.in);
  if (x.from.value == lane.rank)
    return (x.fold == Fold::none && same_memory(x)) || compute(lane, bytes);

  const Moment* const arrived = arrival(lane, x.from);
  if (arrived == nullptr) {
    lane.receiver_waits = true;
    return false;
  }
  if (arrived->at > now) {
    lane.receive_at = *arrived;
    push(Kind::receive, arrived->at, lane.rank, static_cast<std::uint32_t>(&lane - &lanes_[0]));
    return false;
  }
  forget(lane, *arrived);
  Moment& cpu = servers_[lane.rank].cpu;
  spend(cpu, bytes);
  if (x.fold != Fold::none) return compute(lane, bytes);
  if (x.staged) cpu = cpu.plus(&Moment::gamma, costs_.fold(bytes));
  return true;
}

/// A local copy that moves nothing.
bool Recurrence::same_memory(const Exchange& x) const {
  return plan_.request.in_place && x.out.buffer != Buffer::scratch &&
         x.in.buffer != Buffer::scratch && x.out.first == x.in.first;
}

/// The oldest from that rank that is not taken; null: none.
const Moment* Recurrence::arrival(const Lane& lane, Rank from) const {
  for (std::size_t i = lane.gone; i < lane.arrivals.size(); ++i)
    if (lane.arrivals[i].from == from) return &lane.arrivals[i].at;
  return nullptr;
}

/// Nearly always the oldest of all, which costs nothing.
void Recurrence::forget(Lane& lane, const Moment& arrival) {
  const auto oldest = lane.arrivals.begin() + static_cast<std::ptrdiff_t>(lane.gone);
  const auto it = std::find_if(oldest, lane.arrivals.end(),
                               [&](const Arrival& a) { return &a.at == &arrival; });
  std::move_backward(oldest, it, it + 1);
  if (++lane.gone < lane.arrivals.size()) return;
  lane.arrivals.clear();
  lane.gone = 0;
}

/// True when it took no time.
bool Recurrence::compute(Lane& lane, std::uint64_t bytes) {
  Server& server = servers_[lane.rank];
  server.compute = later(server.cpu, server.compute).plus(&Moment::gamma, costs_.fold(bytes));
  if (server.compute.at == server.cpu.at) return true;
  lane.folding = true;
  lane.receive_at = server.compute;
  push(Kind::receive, server.compute.at, lane.rank, static_cast<std::uint32_t>(&lane - &lanes_[0]));
  return false;
}

void Recurrence::push(Kind kind, Picoseconds time, std::uint64_t tie, std::uint32_t index) {
  events_.push_back({time * 4 + static_cast<std::uint64_t>(kind), tie, index});
  std::push_heap(events_.begin(), events_.end());
}

}  // namespace hocket::internal
