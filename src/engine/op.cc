// SPDX-License-Identifier: Apache-2.0
#include "engine/op.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "engine/communicator.h"
#include "engine/executor.h"

namespace hocket::engine {

void Lane::round_received() {
  ++received;
  if (sender && received >= needed) std::exchange(sender, nullptr).resume();
}

const world::World& Op::world() const { return communicator_.world(); }
Rank Op::me() const { return communicator_.me(); }

Error Op::cancelled() { return Error(Code::cancelled, "another part of the op failed first"); }

void Op::start(Bytes scratch, Instant deadline) {
  if (outline_.scratch_bytes > 0) lay_out(scratch);
  if (deadline != kNever) communicator_.loop().add(*this, deadline);
  if (Result<void> entered = join_others(); !entered) {
    child_failed(std::move(entered).error());
    return end();
  }
  enter(outline_.scales ? Phase::scaling : Phase::rounds);
}

void Op::lay_out(Bytes scratch) {
  for (Work& work : works_) {
    work.scratch = scratch.data;
    if (scratch.data != nullptr) scratch.data += work.scratch_bytes();
  }
}

Result<void> Op::join_others() {
  if (!outline_.enters) return kOk;
  const Bytes output{works_[0].output, outline_.lands ? works_[0].plan.total_bytes() : 0};
  return world().fabric.enter({entry_, output});
}

void Op::enter(Phase phase) {
  phase_ = phase;
  scope_.hold();
  if (phase == Phase::rounds) {
    run_lanes();
  } else {
    scope_.spawn(run_scaling(*this, lanes_[0].receive, phase == Phase::scaling));
  }
  scope_.release();  // may end the op: nothing of it is touched after this
}

void Op::run_lanes() {
  for (Lane& lane : lanes_) {
    scope_.spawn(run_sender(*this, lane));
    scope_.spawn(run_receiver(*this, lane));
  }
}

void Op::children_ended() {
  if (!failed() && phase_ == Phase::scaling) return enter(Phase::rounds);
  if (!failed() && phase_ == Phase::rounds && outline_.divides) return enter(Phase::dividing);
  end();
}

void Op::end() {
  communicator_.loop().remove(*this);
  communicator_.op_ended(*this);
}

void Op::delivered() { communicator_.enqueue(*this); }
void Op::expired() { communicator_.op_timed_out(*this); }

void Op::child_failed(Error error) {
  if (error.code() == Code::cancelled) return;
  fail(communicator_.agree(std::move(error), entry_));
}

void Op::fail(Error error) {
  if (failed()) return;
  error_.emplace(std::move(error).at_rank(me()).in_op(seq_));
  if (phase_ == Phase::queued) return;
  scope_.hold();
  for (Lane& lane : lanes_) {
    for (world::Waiter* waiter : {&lane.send, &lane.receive}) {
      if (!waiter->parked) continue;
      world().fabric.unpark(*waiter);
      waiter->handle.resume();
    }
    if (lane.sender) std::exchange(lane.sender, nullptr).resume();
  }
  scope_.release();
}

void Op::prefetch(std::uint32_t lead) const {
  constexpr std::size_t kFrame = 384;  // of either coroutine of a lane, nearly
  if (lead == 2) {
    hocket::prefetch(&works_, sizeof works_);
    return hocket::prefetch(&outline_, sizeof outline_);
  }
  if (lead == 1) {
    hocket::prefetch(works_.data(), works_.size() * sizeof(Work));
    return hocket::prefetch(lanes_.data(), lanes_.size() * sizeof(Lane));
  }
  for (const Lane& lane : lanes_) {
    hocket::prefetch((lane.sender ? lane.sender : lane.send.handle).address(), kFrame);
    hocket::prefetch(lane.receive.handle.address(), kFrame);
  }
}

std::vector<Rank> Op::waiting_for() const {
  std::vector<Rank> peers;
  for (const Lane& lane : lanes_)
    for (const world::Waiter* waiter : {&lane.send, &lane.receive})
      if (waiter->parked && waiter->port != world::Port::drained) peers.push_back(waiter->peer);
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

}  // namespace hocket::engine
