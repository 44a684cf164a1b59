// SPDX-License-Identifier: Apache-2.0
#include "engine/communicator.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "algo/table.h"
#include "base/bytes.h"
#include "engine/op_builder.h"

namespace hocket::engine {
namespace {

/// "rank 3"; "ranks 3, 5, 6 and 9 more": those named, of so many.
std::string rank_list(std::span<const Rank> named, std::uint32_t count) {
  std::string text = count == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < named.size(); ++i)
    text += (i ? ", " : "") + std::to_string(named[i].value);
  if (count > named.size()) text += " and " + std::to_string(count - named.size()) + " more";
  return text;
}

std::string rank_list(const world::Missing& missing) {
  const std::uint32_t named = std::min(missing.count, world::Missing::kNamed);
  return rank_list({missing.ranks.data(), named}, missing.count);
}

}  // namespace

Communicator::Communicator(Parts parts)
    : world_(parts.world),
      loop_(parts.loop),
      listener_(parts.listener),
      config_(std::move(parts.config)),
      me_(parts.me) {}

Communicator::~Communicator() {
  CHECK(running_ == nullptr && first_ == nullptr, "a communicator ended before its ops");
  while (pool_ != nullptr) std::unique_ptr<Op> op(std::exchange(pool_, pool_->next_));
  if (scratch_.data != nullptr) world_.device.free(scratch_);
}

Result<Op*> Communicator::submit(std::span<const Call> calls) {
  TRY(Op* const op, prepare(calls));
  commit(*op);
  return op;
}

// An op is built outside the lock: its plan may be the first to need a table of prices.
Result<Op*> Communicator::prepare(std::span<const Call> calls) {
  TRY(Op* const op, take_op());
  OpBuilder builder(*config_, me_, *op);
  Result<void> built = builder.build(calls);
  if (built) return op;
  discard(*op);
  return std::move(built).error();
}

void Communicator::commit(Op& op) {
  const Held lock(submit_lock_);
  post(op);
}

void Communicator::discard(Op& op) {
  const Held lock(submit_lock_);
  op.next_ = std::exchange(pool_, &op);
  --count_.held;
}

void Communicator::post(Op& op) {
  op.seq_ = numbers_.last = OpSeq{numbers_.last.value + 1};
  count_.submitted.store(count_.submitted.load() + 1);
  loop_.deliver(op);  // under the lock: mail is in the order of the numbers
}

Result<Op*> Communicator::take_op() {
  const Held lock(submit_lock_);
  if (failure_) return failure_->clone();
  Op* const op = pool_ != nullptr ? std::exchange(pool_, pool_->next_)
                                  : new (std::nothrow) Op(*this);  // NOLINT: the pool's
  if (op == nullptr) return Error::no_memory();
  ++count_.held;
  op->next_ = nullptr;
  return op;
}

std::uint32_t Communicator::held() const {
  const Held lock(submit_lock_);
  return count_.held;
}

void Communicator::release(Op& op) {
  CHECK(op.done(), "an op was released before it was done");
  discard(op);
}

std::optional<Error> Communicator::failure() const {
  const Held lock(submit_lock_);
  if (!failure_) return std::nullopt;
  return failure_->clone();
}

void Communicator::abort(std::string reason) {
  const Held lock(submit_lock_);
  if (failure_ || aborted_) return;
  aborted_ = std::move(reason);
  loop_.deliver(*this);
}

void Communicator::delivered() {
  fail(agree(Error(Code::aborted, *aborted_).about_peer(me_), OpSeq{}));
}

bool Communicator::poll() {
  if (world_.fabric.poll()) return true;
  if (!look_for_failure()) return false;
  end_with_failure();
  return true;
}

/// Takes over the failure that somebody published, or one of ops on streams; true if there is one,
/// and it is news.
bool Communicator::look_for_failure() {
  if (failure_) return false;
  if (streams_ != nullptr) {
    if (std::optional<Error> failed = streams_->failure()) {
      keep_failure(agree(*std::move(failed), OpSeq{}));
      return true;
    }
  }
  return take_over(world_.membership.failure());
}

bool Communicator::take_over(const std::optional<world::Failure>& failure) {
  if (!failure) return false;
  keep_failure(error_of(*failure));
  return true;
}

void Communicator::look() {
  if (!failure_ && take_over(world_.membership.look())) end_with_failure();
}

void Communicator::prefetch(std::uint32_t lead) const {
  if (lead == 3) {
    hocket::prefetch(&running_, sizeof running_);
    return hocket::prefetch(&world_, sizeof world_);
  }
  if (running_ == nullptr) return;
  running_->prefetch(lead);
}

void Communicator::enqueue(Op& op) {
  const Work& work = op.works_[0];
  const Request& request = work.plan.request;
  op.submitted_ = world_.clock.now();
  record(op, trace::Kind::op_submitted, op.submitted_,
         {work.plan.total_bytes(), static_cast<std::uint32_t>(request.collective) |
                                       static_cast<std::uint32_t>(request.type) << 8 |
                                       static_cast<std::uint32_t>(request.op) << 16});
  (newest_ != nullptr ? newest_->next_ : first_) = &op;
  newest_ = &op;
  advance(op.submitted_);
}

// Ops may end inside start, and tell so inside the loop below: one level of it is enough.
void Communicator::advance(Instant now) {
  if (std::exchange(advancing_, true)) return;
  while (running_ == nullptr && first_ != nullptr) {
    Op& op = *std::exchange(first_, first_->next_);
    if (first_ == nullptr) newest_ = nullptr;
    op.next_ = nullptr;
    running_ = &op;
    look_for_failure();  // what others sent before they failed must not let this one succeed
    if (failure_) {
      op.fail(failure_->clone());
      op_ended(op);
    } else if (Result<void> started = start(op, now); !started) {
      op.fail(agree(std::move(started).error(), op.entry_));
      op_ended(op);
    }
  }
  advancing_ = false;
}

/// Fails before the op has begun, or not at all.
Result<void> Communicator::start(Op& op, Instant now) {
  if (op.outline_.enters) op.entry_ = numbers_.entered = OpSeq{numbers_.entered.value + 1};
  if (op.outline_.scratch_bytes > scratch_.size) {
    if (scratch_.data != nullptr) world_.device.free(std::exchange(scratch_, {}));
    TRY(scratch_, world_.device.allocate(op.outline_.scratch_bytes));
  }
  const Plan& plan = op.works_[0].plan;
  record(op, trace::Kind::op_started, now,
         {static_cast<std::uint64_t>(plan.algorithm -
                                     algo::algorithms(plan.request.collective).data()),
          plan.channels | plan.pieces << 16});
  op.start(scratch_, config_->op_timeout == kForever ? kNever : now + config_->op_timeout);
  return kOk;
}

void Communicator::op_ended(Op& op) {
  running_ = nullptr;
  const Instant now = world_.clock.now();
  if (op.failed()) {
    const Rank culprit = op.error()->peer().value_or(kNobody);
    record(op, trace::Kind::op_failed, now,
           {static_cast<std::uint64_t>(op.error()->code()), culprit.value});
    keep_failure(*op.error());
  } else {
    const Duration taken = now - op.submitted_;
    record(op, trace::Kind::op_completed, now, {static_cast<std::uint64_t>(taken.ns), 0});
  }
  count_.ended.store(count_.ended.load() + 1);
  op.done_.store(1);  // from here on the op may be released, and used again, by another thread
  listener_.op_ended(*this);
  advance(now);
}

void Communicator::op_timed_out(Op& op) {
  world::Missing missing;
  if (op.outline_.enters) missing = world_.membership.missing(op.entry_);
  const std::vector<Rank> awaited = op.waiting_for();
  std::string text =
      "not done " + std::to_string(config_->op_timeout.ns / 1'000'000) + " ms after its start: ";
  Rank culprit = kNobody;
  if (missing.count > 0) {
    text += rank_list(missing) + " did not enter it";
    culprit = missing.ranks[0];
  } else {
    const auto count = static_cast<std::uint32_t>(awaited.size());
    text += std::string(op.outline_.enters ? "all ranks entered it; " : "") +
            (count > 0 ? rank_list(awaited, count) : "nothing") + " awaited";
  }
  Error error(Code::timeout, std::move(text));
  fail(agree(culprit == kNobody ? std::move(error) : std::move(error).about_peer(culprit),
             op.entry_));
}

Error Communicator::agree(Error mine, OpSeq op) {
  world::Failure failure{mine.code(), mine.peer().value_or(kNobody), me_, op};
  const world::Failure agreed = world_.membership.fail(failure);
  if (agreed == failure) return mine;
  return error_of(agreed).because(std::move(mine));
}

Error Communicator::error_of(const world::Failure& failure) const {
  std::string text = "reported by rank " + std::to_string(failure.reporter.value);
  if (failure.reporter == kNobody) text = "the ranks' common memory was overwritten";
  if (failure.reporter == me_) text = "noticed by this rank";
  if (failure.op.value != 0) text += " in collective " + std::to_string(failure.op.value);
  Error error(failure.code, std::move(text));
  if (failure.culprit == kNobody) return error;
  return std::move(error).about_peer(failure.culprit);
}

void Communicator::keep_failure(const Error& error) {
  if (failure_) return;
  if (streams_ != nullptr) streams_->stop();
  const Held lock(submit_lock_);
  failure_.emplace(error.clone());
}

void Communicator::record(const Op& op, trace::Kind kind, Instant at, Facts facts) {
  trace::Event event;
  event.time_ns = at.ns;
  event.a = facts.a;
  event.b = facts.b;
  event.op = static_cast<std::uint32_t>(op.seq_.value);
  event.rank = me_.value;
  event.kind = kind;
  world_.trace.record(event);
}

void Communicator::fail(const Error& error) {
  if (failure_) return;
  keep_failure(error);
  end_with_failure();
}

void Communicator::end_with_failure() {
  if (running_ != nullptr) running_->fail(failure_->clone());
  advance(world_.clock.now());
}

}  // namespace hocket::engine
