// SPDX-License-Identifier: Apache-2.0
#include "engine/executor.h"

#include "plan/slices.h"

namespace hocket::engine {
namespace {

/// One round of one piece of one work: where a lane stands.
struct Step {
  const Work& work;
  const Piece& piece;
  Exchange exchange;
};

/// Walks the rounds of a lane: its works, their pieces of this lane, their rounds.
class Cursor {
 public:
  explicit Cursor(const Lane& lane) : lane_(lane), work_(lane.works), number_(lane.number) {
    settle();
  }
  bool more() const { return work_ != nullptr; }
  void next() {
    if (++round_ < work_->plan.shape.rounds) return;
    base_ += round_;
    round_ = 0;
    number_ += work_->plan.channels;
    settle();
  }
  Step step() const {
    const ChannelId channel{static_cast<std::uint16_t>(lane_.number)};
    return {*work_, piece_, work_->plan.round(lane_.send.owner, channel, round_)};
  }
  /// What Lane::received is once all rounds of this piece below `after` have arrived.
  std::uint32_t received_before(std::uint32_t after) const { return after ? base_ + after : 0; }

 private:
  void settle() {  // on to the first work that has a piece for this lane
    while (work_ != nullptr && (number_ >= work_->plan.pieces || work_->plan.shape.rounds == 0 ||
                                lane_.number >= work_->plan.channels)) {
      work_ = work_->next;
      number_ = lane_.number;
    }
    if (work_ != nullptr) piece_ = Piece(work_->plan, number_);
  }
  const Lane& lane_;
  const Work* work_;
  Piece piece_;
  std::uint32_t number_, round_ = 0, base_ = 0;
};

/// co_await: until the waiter's port is ready, or the op has failed.
struct Ready {
  const Op& op;
  world::Fabric& fabric;
  world::Waiter& waiter;
  bool await_ready() { return op.failed() || fabric.ready(waiter); }
  void await_suspend(std::coroutine_handle<> handle) {
    waiter.handle = handle;
    fabric.park(waiter);
  }
  Result<void> await_resume() { return op.verdict(); }
};

/// co_await: until the lane has received `rounds` rounds, or the op has failed.
struct Received {
  Lane& lane;
  std::uint32_t rounds;
  bool await_ready() const { return lane.received >= rounds || lane.op->failed(); }
  void await_suspend(std::coroutine_handle<> handle) {
    lane.sender = handle;
    lane.needed = rounds;
  }
  Result<void> await_resume() { return lane.op->verdict(); }
};

// Device actions are not cancelled: their buffers are in use until they are done.

world::Fold fold_of(const Step& step, const Slices& slices, ConstBytes arrived) {
  const Buffer local = operand_of(step.exchange.fold);
  world::Fold fold;
  fold.type = step.work.plan.request.type;
  fold.op = step.work.plan.request.op;
  fold.target = step.work.target(step.exchange.in.buffer, slices.offset(), slices.size());
  fold.local = step.work.source(local, slices.offset_in(local), slices.size());
  fold.arrived = arrived;
  return fold;
}

/// A step without a peer: `in` = `out`, or operand + `out`.
struct Local {
  const world::World& world;
  Lane& lane;
  const Step& step;
  const Slices& slices;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    const Exchange& x = step.exchange;
    const std::uint64_t from = slices.offset() + shift(step.piece, x.in, x.out);
    const ConstBytes source = step.work.source(x.out.buffer, from, slices.size());
    lane.receive.handle = handle;
    if (x.fold != Fold::none)
      return !world.device.fold(lane.receive, fold_of(step, slices, source));
    const Bytes target = step.work.target(x.in.buffer, slices.offset(), slices.size());
    return !world.device.copy(lane.receive, target, source);
  }
  void await_resume() const {}
};

struct Scaled {
  world::Device& device;
  world::Waiter& waiter;
  world::Scale scale;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    waiter.handle = handle;
    return !device.scale(waiter, scale);
  }
  void await_resume() const {}
};

/// co_await: the oldest message is folded or stored, and its credit given back.
struct Taken {
  const world::World& world;
  Lane& lane;
  const Step& step;
  const Slices& slices;
  Result<void> result;

  Taken(const world::World& w, Lane& l, const Step& at, const Slices& slice)
      : world(w), lane(l), step(at), slices(slice) {}

  bool await_ready() {
    if (step.exchange.fold != Fold::none) return false;
    const Buffer buffer = step.exchange.in.buffer;
    const Bytes target = step.work.target(buffer, slices.offset(), slices.size());
    result = world.fabric.land(lane.receive, target);
    return true;
  }
  bool await_suspend(std::coroutine_handle<> handle) {
    Result<ConstBytes> arrived = world.fabric.front(lane.receive, slices.size());
    if (!arrived) {
      result = std::move(arrived).error();
      return false;
    }
    lane.receive.handle = handle;
    return !world.device.fold(lane.receive, fold_of(step, slices, *arrived));
  }
  Result<void> await_resume() {
    if (result) world.fabric.pop(lane.receive);
    return std::move(result);
  }
};

/// Writes a lane's messages. A source that is sent twice in a row is unchanged unless arrivals were
/// waited for in between: those that nobody waited for may as well come after the second sending,
/// so they leave alone what it reads (the prover sees to it).
class Writer {
 public:
  Writer(world::Fabric& fabric, Lane& lane) : fabric_(fabric), lane_(lane) {}

  /// The lane has waited for the arrivals of that many rounds.
  void know(std::uint32_t rounds) {
    if (rounds <= known_) return;
    known_ = rounds;
    written_ = {};
  }
  Result<void> write(const Step& step, const Slices& slices) {
    const Exchange& x = step.exchange;
    world::Message message;
    message.source = step.work.source(x.out.buffer, slices.offset(), slices.size());
    if (lane_.send.port == world::Port::landing)
      message.lands = slices.offset() + shift(step.piece, x.out, x.landing());
    message.repeats = written_.data != nullptr && written_.data == message.source.data &&
                      written_.size == message.source.size;
    written_ = message.source;
    return fabric_.write(lane_.send, message);
  }

 private:
  world::Fabric& fabric_;
  Lane& lane_;
  ConstBytes written_;  // the last source, as long as it is as it was
  std::uint32_t known_ = 0;
};

}  // namespace

Task<void> run_sender(Op& op, Lane& lane) {
  world::Fabric& fabric = op.world().fabric;
  Ready ready{op, fabric, lane.send};
  Writer writer(fabric, lane);
  for (Cursor at(lane); at.more(); at.next()) {
    const Step step = at.step();
    const Exchange& x = step.exchange;
    if (x.to == kNobody || x.to == lane.send.owner) continue;
    Received arrivals{lane, at.received_before(x.after)};
    CO_TRY_VOID(arrivals);
    writer.know(arrivals.rounds);
    lane.send.aim(x.to, x.staged || !op.lands() ? world::Port::staged : world::Port::landing);
    for (Slices slices(step.piece, x.out); slices.more(); slices.next()) {
      CO_TRY_VOID(ready);
      Result<void> written = writer.write(step, slices);
      if (!written) co_return std::move(written).error();
    }
  }
  lane.send.aim(lane.send.peer, world::Port::drained);  // the next op may begin with that peer
  CO_TRY_VOID(ready);
  co_return kOk;
}

Task<void> run_receiver(Op& op, Lane& lane) {
  const world::World& world = op.world();
  Ready ready{op, world.fabric, lane.receive};
  for (Cursor at(lane); at.more(); at.next(), lane.round_received()) {
    const Step step = at.step();
    const Exchange& x = step.exchange;
    if (x.from == kNobody) continue;
    const bool is_local = x.from == lane.receive.owner;
    if (!is_local) lane.receive.aim(x.from, world::Port::arrival);
    for (Slices slices(step.piece, x.in); slices.more(); slices.next()) {
      if (is_local) {
        Local local{world, lane, step, slices};
        co_await local;
        continue;
      }
      CO_TRY_VOID(ready);
      Taken taken(world, lane, step, slices);
      CO_TRY_VOID(taken);
    }
  }
  co_return kOk;
}

Task<void> run_scaling(Op& op, world::Waiter& waiter, bool inputs) {
  for (Work& work : op.works()) {
    if (!(inputs ? work.scales_input() : work.divides_output(op.me()))) continue;
    Scaled scaled{op.world().device, waiter, inputs ? work.scale_input() : work.divide_output()};
    co_await scaled;
    if (inputs) work.input = scaled.scale.target.data;
  }
  co_return kOk;
}

}  // namespace hocket::engine
