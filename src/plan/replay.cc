// SPDX-License-Identifier: Apache-2.0
#include "plan/replay.h"

#include <algorithm>
#include <utility>

#include "plan/well_formed.h"

namespace hocket::proof {
namespace {

std::string name(std::uint32_t rank) { return "rank " + std::to_string(rank); }
std::string block(std::uint32_t b) { return "block " + std::to_string(b); }

bool one_rank(std::uint64_t ranks) { return (ranks & (ranks - 1)) == 0; }

}  // namespace

std::optional<Fault> Replay::run(const Plan& plan, std::span<const Request> requests,
                                 const Rounds& rounds, std::uint32_t pieces) {
  plan_ = &plan;
  requests_ = requests;
  rounds_ = &rounds;
  reset(pieces);
  while (!woken_.empty() && !fault_) {
    const std::uint32_t rank = woken_.back();
    woken_.pop_back();
    progress(rank);
  }
  if (!fault_) check_ended();
  for (std::uint32_t r = 0; r < world_ && !fault_; ++r) check_result(r);
  if (!fault_ && plan.request.collective == Collective::barrier) check_barrier();
  return std::exchange(fault_, {});
}

void Replay::reset(std::uint32_t pieces) {
  world_ = plan_->topology->world();
  pieces_ = pieces;
  lanes_ = lanes_of(world_);
  tally_ = {};
  fault_.reset();
  memory_.reset(*plan_, requests_, pieces);
  ranks_.assign(world_, {});
  line_.assign(std::size_t{world_} * (rounds_->count + 1), 0);
  clocks_.resize(std::size_t{world_} * (pieces * rounds_->count + 1) * lanes_);
  woken_.clear();
  for (std::uint32_t r = world_; r-- > 0;) {
    std::fill_n(clock(r, 0), lanes_, Lane{});
    set_component(clock(r, 0), r, 1);  // it has entered the op
    woken_.push_back(r);
    if (rounds_->count == 0) ranks_[r].sender.piece = ranks_[r].receiver.piece = pieces;
  }
}

void Replay::advance(Cursor& cursor) const {
  if (++cursor.round < rounds_->count) return;
  cursor.round = 0;
  ++cursor.piece;
}

Lane* Replay::clock(std::uint32_t rank, std::uint32_t event) {
  return &clocks_[(std::size_t{rank} * (pieces_ * rounds_->count + 1) + event) * lanes_];
}

void Replay::fail(std::uint32_t rank, std::uint32_t round, std::string what) {
  if (!fault_) fault_ = Fault{Rank{rank}, round, std::move(what)};
}

// As far as this rank can get; those it meets are looked at again.
void Replay::progress(std::uint32_t rank) {
  State& me = ranks_[rank];
  while (!fault_) {
    if (skip(rank)) continue;
    if (!over(me.receiver)) {
      const std::uint32_t from = at(rank, me.receiver).from.value;
      if (can_meet(from, rank)) {
        meet(from, rank);
        woken_.push_back(from);
        continue;
      }
    }
    if (over(me.sender)) return;
    const std::uint32_t to = at(rank, me.sender).to.value;
    if (!can_meet(rank, to)) return;
    meet(rank, to);
    woken_.push_back(to);
  }
}

// Rounds in which the sender has nothing to send, or the receiver nothing to wait for.
bool Replay::skip(std::uint32_t rank) {
  State& me = ranks_[rank];
  bool moved = false;
  for (; !over(me.sender); advance(me.sender), moved = true) {
    const Rank to = at(rank, me.sender).to;
    if (to != kNobody && to.value != rank) break;
  }
  for (; !over(me.receiver) && !fault_; advance(me.receiver), moved = true) {
    const Rank from = at(rank, me.receiver).from;
    if (from != kNobody && from.value != rank) break;
    step_alone(rank);
  }
  return moved;
}

bool Replay::can_meet(std::uint32_t from, std::uint32_t to) const {
  const State &sender = ranks_[from], &receiver = ranks_[to];
  if (over(sender.sender) || over(receiver.receiver)) return false;
  const Exchange& sent = at(from, sender.sender);
  if (sent.to.value != to || at(to, receiver.receiver).from.value != from) return false;
  const std::uint32_t needs = sender.sender.piece * rounds_->count + sent.after;
  return sent.after == 0 || event(sender.receiver) >= needs;
}

void Replay::meet(std::uint32_t from, std::uint32_t to) {
  State &sender = ranks_[from], &receiver = ranks_[to];
  const Exchange &sent = at(from, sender.sender), &received = at(to, receiver.receiver);
  if (sender.sender.piece != receiver.receiver.piece)
    return fail(to, receiver.receiver.round, "takes a message of another piece");
  if (const char* wrong = disagreement(*plan_, sent, received))
    return fail(to, receiver.receiver.round,
                std::string(wrong) + ": " + name(from) + " sends it in round " +
                    std::to_string(sender.sender.round));
  if (sent.after > 0)
    sender.after = std::max(sender.after, sender.sender.piece * rounds_->count + sent.after);
  const std::uint32_t now = event(receiver.receiver);
  const Lane* sent_knows = clock(from, sender.after);
  Lane* taken_knows = clock(to, now + 1);
  const auto time = static_cast<std::int16_t>(now + 2);
  join(taken_knows, clock(to, now), sent_knows, lanes_);
  set_component(taken_knows, to, time);
  move({sent, received, from, to, sent_knows, taken_knows, time, !sent.staged});
  if (!sent.staged && component(sent_knows, to) == 0) ++tally_.entries;
  if (sender.sender.piece == 0) count_depth(from, to, sent);
  ++tally_.messages;
  ++tally_.exchanges;
  sender.has_sent = true;
  advance(sender.sender);
  advance(receiver.receiver);
}

void Replay::step_alone(std::uint32_t rank) {
  const Cursor& cursor = ranks_[rank].receiver;
  const Exchange& x = at(rank, cursor);
  const std::uint32_t now = event(cursor);
  const auto time = static_cast<std::int16_t>(now + 2);
  Lane* knows = clock(rank, now + 1);
  std::copy_n(clock(rank, now), lanes_, knows);
  set_component(knows, rank, time);
  if (cursor.piece == 0) {
    const std::size_t line = std::size_t{rank} * (rounds_->count + 1) + cursor.round;
    line_[line + 1] = line_[line];
  }
  ++tally_.exchanges;
  if (x.from.value == rank) move({x, x, rank, rank, knows, knows, time, false});
}

void Replay::move(const Step& s) {
  const Exchange &sent = s.sent, &received = s.received;
  const std::uint32_t piece = ranks_[s.to].receiver.piece;
  const std::uint32_t sources = memory_.cells(Rank{s.from}, sent.out.buffer, piece);
  const std::uint32_t targets = memory_.cells(Rank{s.to}, received.in.buffer, piece);
  const bool folds = received.fold != Fold::none;
  const std::uint32_t operands =
      folds ? memory_.cells(Rank{s.to}, operand_of(received.fold), piece) : 0;
  for (std::uint32_t i = 0; i < sent.out.count; ++i) {
    const std::uint32_t at_target = received.in.block(i);
    const std::uint32_t source = sources + sent.out.block(i), target = targets + at_target;
    if (source == target && !folds) continue;  // a copy in place
    if (!may_move(s, source, target)) return;
    Value value = memory_.cell(source).value;
    if (folds && !fold(s, operands + at_target, value)) return;
    set_component(memory_.touched(source), s.to, s.time);
    set_component(memory_.touched(target), s.to, s.time);
    memory_.cell(target) = {value, s.time};
  }
}

bool Replay::may_move(const Step& s, std::uint32_t source, std::uint32_t target) {
  const std::uint32_t sends = ranks_[s.from].sender.round, takes = ranks_[s.to].receiver.round;
  const Cell& cell = memory_.cell(source);
  const auto what = [&](const char* does, const char* why) {
    const bool local = s.from == s.to;
    return std::string(local ? "copies" : does) + " " + block(source % plan_->shape.blocks) + why;
  };
  if (cell.value.ranks == 0)
    return fail(s.from, s.from == s.to ? takes : sends, what("sends", ", which it does not have")),
           false;
  if (cell.written > component(s.sent_knows, s.from))
    return fail(s.from, sends, what("sends", " before it is sure to be complete")), false;
  if (known(memory_.touched(target), s.lands ? s.sent_knows : s.taken_knows, lanes_)) return true;
  const std::string at_target = block(target % plan_->shape.blocks);
  if (s.lands)
    fail(s.from, sends, "lands in " + at_target + " of " + name(s.to) + ", which may be in use");
  else
    fail(s.to, takes, "overwrites " + at_target + ", which may still be on its way");
  return false;
}

// The operand's cell needs no clock: its owner alone writes it, landings included (they end when
// the owner takes them), and a landing that comes too early finds this event in `touched`.
bool Replay::fold(const Step& s, std::uint32_t operand, Value& arrived) {
  const std::uint32_t round = ranks_[s.to].receiver.round;
  const Value& local = memory_.cell(operand).value;
  const char* wrong = nullptr;
  if (local.ranks == 0)
    wrong = "adds to what it does not have";
  else if (local.block != arrived.block)
    wrong = "adds different blocks";
  else if ((local.ranks & arrived.ranks) != 0)
    wrong = "adds an operand twice";
  else if (plan_->algorithm->fold_order == FoldOrder::ranks &&
           !(one_rank(arrived.ranks) && local.ranks == arrived.ranks - 1))
    wrong = "adds out of rank order";
  if (wrong != nullptr)
    return fail(s.to, round, std::string(wrong) + ": " + block(operand % plan_->shape.blocks)),
           false;
  arrived = sum(local, arrived);
  set_component(memory_.touched(operand), s.to, s.time);
  return true;
}

// Messages in a row: each is its sender's first and waits for the one before.
void Replay::count_depth(std::uint32_t from, std::uint32_t to, const Exchange& sent) {
  const std::size_t stride = rounds_->count + 1;
  const std::uint32_t before =
      ranks_[from].has_sent ? 0 : line_[std::size_t{from} * stride + sent.after];
  const std::size_t taken = std::size_t{to} * stride + ranks_[to].receiver.round;
  line_[taken + 1] = std::max(line_[taken], before + 1);
  tally_.depth = std::max(tally_.depth, before + 1);
}

std::string Replay::waiting(std::uint32_t rank, bool sender) const {
  const State& me = ranks_[rank];
  if (!sender) {
    const std::uint32_t peer = at(rank, me.receiver).from.value;
    return "waits for " + name(peer) + ", which does not send";
  }
  const Exchange& x = at(rank, me.sender);
  const std::uint32_t needs = me.sender.piece * rounds_->count + x.after;
  if (x.after > 0 && event(me.receiver) < needs) return "waits to send for what does not arrive";
  return "sends to " + name(x.to.value) + ", which does not take it";
}

// Of all processes that are stuck, the one that got least far is named: what it waits for is the
// nearest to the cause.
void Replay::check_ended() {
  std::uint32_t earliest = ~0u, rank = 0;
  bool sender = false;
  for (std::uint32_t r = 0; r < world_; ++r)
    for (const bool sends : {false, true}) {
      const Cursor& cursor = sends ? ranks_[r].sender : ranks_[r].receiver;
      if (over(cursor) || event(cursor) >= earliest) continue;
      earliest = event(cursor);
      rank = r;
      sender = sends;
    }
  if (earliest != ~0u) fail(rank, earliest % rounds_->count, waiting(rank, sender));
}

void Replay::check_result(std::uint32_t rank) {
  const Request& request = requests_[rank];
  const Holding held = holding(*plan_, request, Rank{rank}, Buffer::output);
  if (held == Holding::nothing) return;
  const std::uint64_t everyone = ~std::uint64_t{0} >> (64 - world_);
  const std::uint32_t blocks = plan_->shape.blocks;
  for (std::uint32_t i = 0; i < pieces_ * blocks; ++i) {
    const std::uint32_t b = i % blocks;
    if (held == Holding::own_block && b != rank) continue;
    Value want = operand(*plan_, request.root, b);
    if (request.collective == Collective::all_gather) want = operand(*plan_, Rank{b}, b);
    if (request.collective == Collective::alltoall) want = operand(*plan_, Rank{b}, rank);
    const Cell& cell = memory_.cell(memory_.cells(Rank{rank}, Buffer::output, i / blocks) + b);
    const Cell& first = memory_.cell(memory_.cells(Rank{0}, Buffer::output, i / blocks) + b);
    const bool adds = request.collective == Collective::all_reduce ||
                      request.collective == Collective::reduce_scatter ||
                      request.collective == Collective::reduce;
    if (adds) want = {everyone, cell.value.order, b};
    const auto last = static_cast<std::uint32_t>(std::max<std::int16_t>(cell.written, 2) - 2);
    const std::uint32_t round = rounds_->count == 0 ? 0 : last % rounds_->count;
    if (cell.value.ranks == 0) return fail(rank, round, "ends without " + block(b));
    if (cell.value != want) return fail(rank, round, "leaves a wrong result in " + block(b));
    if (request.collective == Collective::all_reduce && cell.value.order != first.value.order)
      return fail(rank, round, "adds " + block(b) + " in another order than rank 0");
  }
}

void Replay::check_barrier() {
  for (std::uint32_t r = 0; r < world_; ++r)
    for (std::uint32_t p = 0; p < world_; ++p)
      if (component(clock(r, pieces_ * rounds_->count), p) == 0)
        return fail(r, rounds_->count - 1, "leaves before " + name(p) + " has entered");
}

}  // namespace hocket::proof
