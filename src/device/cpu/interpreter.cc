// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/interpreter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/check.h"
#include "device/cpu/twin.h"
#include "device/kernels/cut.h"

namespace hocket::cpu {
namespace {

constexpr std::uint32_t kLongestMood = 300;  // turns

template <class Access>
bool is_aligned(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % sizeof(Access) == 0;
}

}  // namespace

std::unique_ptr<Thread> ThreadPool::take() {
  if (idle_.empty()) return std::make_unique<Thread>();
  std::unique_ptr<Thread> thread = std::move(idle_.back());
  idle_.pop_back();
  return thread;
}

// A thread may be suspended before each access; between a look and the wait for a change of what it
// saw, others may store, so what it polled is kept since then.
void Thread::sync() { sync(true); }

bool Thread::sync(bool good) {
  turn();
  return interpreter_->sync(*this, good);
}

std::uint64_t Thread::load_word(const std::byte* from) {
  CHECK(is_aligned<std::uint64_t>(from), "a kernel loads a word that is not aligned");
  return load(from, sizeof(std::uint64_t));
}

void Thread::store_word(std::byte* to, std::uint64_t word) {
  CHECK(is_aligned<std::uint64_t>(to), "a kernel stores a word that is not aligned");
  store(to, word, sizeof(std::uint64_t));
}

std::uint64_t Thread::load(const std::byte* from, std::uint32_t bytes) {
  turn();
  std::uint64_t word = 0;
  if (bytes > 0) std::memcpy(&word, from, bytes);
  return word;
}

void Thread::store(std::byte* to, std::uint64_t word, std::uint32_t bytes) {
  turn();
  if (bytes > 0) std::memcpy(to, &word, bytes);
}

kernels::Vector Thread::load_vector(const std::byte* from) {
  CHECK(is_aligned<kernels::Vector>(from), "a kernel loads a vector that is not aligned");
  turn();
  kernels::Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

void Thread::store_vector(std::byte* to, const kernels::Vector& vector) {
  CHECK(is_aligned<kernels::Vector>(to), "a kernel stores a vector that is not aligned");
  turn();
  if (interpreter_->owner_of(to) != nullptr) return send(to, &vector, sizeof vector, false);
  std::memcpy(to, &vector, sizeof vector);
}

kernels::Packet Thread::load_packet(const kernels::Packet* from) {
  turn();
  poll(from);
  return *from;
}

void Thread::store_packet(kernels::Packet* to, const kernels::Packet& packet) {
  turn();
  send(to, &packet, sizeof packet, false);
}

kernels::Flag Thread::load_flag(const kernels::Flag* from) {
  turn();
  poll(from);
  return *from;
}

void Thread::store_flag(kernels::Flag* to, const kernels::Flag& flag) {
  turn();
  send(to, &flag, sizeof flag.lap + sizeof flag.signature, true);
}

void Thread::poll(const void* address) {
  if (polled_.count < polled_.addresses.size()) polled_.addresses[polled_.count] = address;
  ++polled_.count;
}

void Thread::send(void* to, const void* from, std::uint32_t bytes, bool releases) {
  Interpreter::Sent& sent = interpreter_->sent_.emplace_back();
  sent = {static_cast<std::byte*>(to), {}, bytes, rank_, block_, releases};
  std::memcpy(sent.bytes.data(), from, bytes);
}

std::uint32_t Thread::load_lap(const std::uint32_t* from) {
  turn();
  return *from;
}

void Thread::store_lap(std::uint32_t* to, std::uint32_t lap) {
  turn();
  *to = lap;
}

bool Thread::patient(std::uint32_t, const kernels::Domain& domain, std::uint32_t from,
                     std::uint32_t lap) {
  from_ = from;
  lap_ = lap;
  interpreter_->wait(*this);
  polled_ = {};
  if (*domain.stop != 0) {
    report(domain, {from, lap, 0, kernels::Report::aborted});
  } else if (interpreter_->late_) {
    report(domain, {from, lap, 0, kernels::Report::late});
  }
  return *domain.given_up == 0;
}

void Thread::report(const kernels::Domain& domain, const kernels::Report& report) {
  turn();
  if (std::exchange(*domain.given_up, 1) != 0) return;
  *domain.report = report;
  interpreter_->wake_rank(interpreter_->ranks_[rank_]);
}

bool Thread::Polled::has(const void* address) const {
  if (count > addresses.size()) return true;
  return std::find(addresses.begin(), addresses.begin() + count, address) !=
         addresses.begin() + count;
}

Interpreter::Interpreter(ThreadPool& pool, const DomainOptions& options)
    : pool_(pool),
      kernel_(options.kernel != nullptr ? options.kernel : static_cast<Kernel*>(&run_twin)),
      random_(options.seed) {
  const kernels::Capacity& capacity = options.capacity;
  CHECK(capacity.world >= 1 && capacity.world <= world::kMostInDomain,
        "a domain has 1 to 16 ranks");
  CHECK(capacity.staged % sizeof(kernels::Flag) == 0, "staging comes in lines");
  const std::uint64_t bytes = kernels::Mailbox::bytes(capacity);
  for (std::uint32_t i = 0; i < capacity.world; ++i) {
    Rank& rank = ranks_.emplace_back();
    rank.mailbox.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
    rank.laps.fill(options.lap);
    rank.chunks.fill(options.chunk);
  }
  for (std::uint32_t i = 0; i < capacity.world; ++i) {
    Rank& rank = ranks_[i];
    rank.domain.me = i;
    rank.domain.capacity = capacity;
    for (std::uint32_t peer = 0; peer < capacity.world; ++peer)
      rank.domain.mailboxes[peer] = reinterpret_cast<std::byte*>(ranks_[peer].mailbox.data());
    const kernels::Mailbox mailbox = kernels::mailbox(rank.domain, i);
    for (std::uint32_t peer = 0; capacity.letters > 0 && peer < capacity.world; ++peer)
      for (std::uint32_t stripe = 0; stripe < capacity.stripes; ++stripe)
        mailbox.taken(peer, stripe)->lap = options.chunk;
    rank.domain.laps = rank.laps.data();
    rank.domain.chunks = rank.chunks.data();
    rank.domain.given_up = &rank.given_up;
    rank.domain.stop = &rank.stop;
    rank.domain.report = &rank.report;
  }
}

void Interpreter::launch(std::uint32_t rank, const world::Action& action) {
  CHECK(action.blocks >= 1 && action.blocks <= kernels::kMostBlocks && action.threads >= 1,
        "no such grid");
  launch(rank, {.blocks = action.blocks, .threads = action.threads, .action = action});
}

void Interpreter::launch(std::uint32_t rank, const world::Transfers& transfers,
                         std::uint32_t threads) {
  const std::uint32_t stripes = kernels::stripes_of(transfers, ranks_[rank].domain.capacity);
  launch(rank, {.blocks = transfers.count * stripes,
                .threads = threads,
                .transfers = std::make_unique<const world::Transfers>(transfers),
                .stripes = stripes});
}

void Interpreter::launch(std::uint32_t rank, Thread::Work work) {
  ranks_[rank].stream.push_back(std::move(work));
  if (ranks_[rank].running == 0) begin(rank);
}

Interpreter::End Interpreter::run(std::uint64_t turns) {
  for (; turns > 0 && !(ready_.empty() && sent_.empty()); --turns) {
    ++turns_;
    if (mood_.turns-- == 0) change_mood();
    if (ready_.empty() || (!sent_.empty() && random_.below(8) < mood_.pace)) {
      deliver();
      continue;
    }
    Thread& thread = choose();
    thread.fiber_.resume();
    if (thread.fiber_.done()) end(thread);
  }
  if (!ready_.empty() || !sent_.empty()) return End::paused;
  const bool stuck =
      std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.running > 0; });
  return stuck ? End::stuck : End::done;
}

void Interpreter::stop(std::uint32_t rank) {
  ranks_[rank].stop = 1;
  wake_rank(ranks_[rank]);
}

void Interpreter::time_out() {
  late_ = true;
  for (Rank& rank : ranks_) wake_rank(rank);
}

std::string Interpreter::waiting() const {
  std::map<std::string, std::uint32_t> lines;
  for (const Rank& rank : ranks_)
    for (const auto& thread : rank.threads) {
      if (thread == nullptr || thread->state_ == Thread::State::ready) continue;
      std::string line = "rank " + std::to_string(thread->rank_) + " waits for ";
      if (thread->state_ == Thread::State::syncing) {
        line += "the others of block " + std::to_string(thread->block_);
      } else {
        line += "rank " + std::to_string(thread->from_) +
                (thread->lap_ == 0 ? " in a transfer" : " in lap " + std::to_string(thread->lap_));
      }
      ++lines[line];
    }
  std::string text;
  for (const auto& [line, threads] : lines)
    text += line + ": " + std::to_string(threads) + (threads == 1 ? " thread\n" : " threads\n");
  return text;
}

void Interpreter::run_kernel(void* argument) {
  auto& thread = *static_cast<Thread*>(argument);
  Interpreter& interpreter = *thread.interpreter_;
  const kernels::Domain& domain = interpreter.ranks_[thread.rank_].domain;
  const Thread::Work& work = *thread.work_;
  if (work.transfers != nullptr) return run_twin(thread, domain, *work.transfers, work.stripes);
  interpreter.kernel_(thread, domain, work.action);
}

void Interpreter::begin(std::uint32_t number) {
  Rank& rank = ranks_[number];
  const Thread::Work& work = rank.stream.front();
  rank.running = work.blocks * work.threads;
  rank.barriers.assign(work.blocks, {});
  rank.threads.clear();
  for (std::uint32_t i = 0; i < rank.running; ++i) {
    Thread& thread = *rank.threads.emplace_back(pool_.take());
    thread.interpreter_ = this;
    thread.work_ = &work;
    thread.rank_ = number;
    thread.block_ = i / work.threads;
    thread.thread_ = i % work.threads;
    thread.polled_ = {};
    thread.fiber_.start(run_kernel, &thread);
    add_ready(thread);
  }
}

void Interpreter::end(Thread& thread) {
  const std::uint32_t number = thread.rank_;
  Rank& rank = ranks_[number];
  remove_ready(thread);
  pool_.give(std::move(rank.threads[thread.block_ * thread.threads() + thread.thread_]));
  if (--rank.running > 0) return;
  ++rank.ended;
  rank.stream.pop_front();
  if (!rank.stream.empty()) begin(number);
}

bool Interpreter::favours(const Thread& thread) const {
  const std::uint32_t bit =
      mood_.ranks ? thread.rank_ : thread.rank_ * 29 + thread.block_ * 13 + thread.thread_;
  return mood_.favoured >> (bit % 64) & 1;
}

void Interpreter::change_mood() {
  mood_.favoured = random_.next() & random_.next();
  mood_.turns = static_cast<std::uint32_t>(random_.below(kLongestMood));
  mood_.pace = static_cast<std::uint32_t>(random_.below(9));
  mood_.ranks = random_.below(2) == 0;
}

Thread& Interpreter::choose() {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    Thread& thread = *ready_[random_.below(ready_.size())];
    if (favours(thread)) return thread;
  }
  return *ready_[random_.below(ready_.size())];
}

bool Interpreter::Sent::waits_for(const Sent& earlier) const {
  return earlier.to == to || (releases && earlier.rank == rank && earlier.block == block);
}

void Interpreter::deliver() {
  auto next = sent_.begin() + static_cast<std::ptrdiff_t>(random_.below(sent_.size()));
  for (auto at = next; at != sent_.begin();)
    if (next->waits_for(*--at)) next = at;
  std::memcpy(next->to, next->bytes.data(), next->size);
  stored(next->to);
  sent_.erase(next);
}

bool Interpreter::gives_up(const Rank& rank) const {
  return rank.stop != 0 || rank.given_up != 0 || late_;
}

void Interpreter::wait(Thread& thread) {
  if (!thread.polled_.changed && !gives_up(ranks_[thread.rank_])) {
    thread.state_ = Thread::State::waiting;
    remove_ready(thread);
  }
  thread.turn();
}

void Interpreter::wake(Thread& thread) {
  if (thread.state_ == Thread::State::ready) return;
  add_ready(thread);
}

void Interpreter::add_ready(Thread& thread) {
  thread.state_ = Thread::State::ready;
  thread.place_ = ready_.size();
  ready_.push_back(&thread);
}

void Interpreter::remove_ready(const Thread& thread) {
  ready_[thread.place_] = ready_.back();
  ready_[thread.place_]->place_ = thread.place_;
  ready_.pop_back();
}

void Interpreter::wake_rank(Rank& rank) {
  for (const auto& thread : rank.threads) {
    if (thread == nullptr) continue;
    thread->polled_.changed = true;
    if (thread->state_ == Thread::State::waiting) wake(*thread);
  }
}

Interpreter::Rank* Interpreter::owner_of(const void* address) {
  const auto* const at = static_cast<const std::byte*>(address);
  for (Rank& rank : ranks_) {
    const auto* const begin = reinterpret_cast<const std::byte*>(rank.mailbox.data());
    if (at >= begin && at < begin + rank.mailbox.size() * sizeof(Line)) return &rank;
  }
  return nullptr;
}

void Interpreter::stored(const void* address) {
  Rank* const rank = owner_of(address);
  CHECK(rank != nullptr, "a kernel sends to no mailbox");
  for (const auto& thread : rank->threads) {
    if (thread == nullptr || !thread->polled_.has(address)) continue;
    thread->polled_.changed = true;
    if (thread->state_ == Thread::State::waiting) wake(*thread);
  }
}

bool Interpreter::sync(Thread& thread, bool good) {
  Rank& rank = ranks_[thread.rank_];
  Barrier& barrier = rank.barriers[thread.block_];
  barrier.good &= good;
  if (++barrier.arrived < thread.threads()) {
    thread.state_ = Thread::State::syncing;
    remove_ready(thread);
    thread.turn();
  } else {
    barrier = {.was_good = barrier.good};
    for (const auto& other : rank.threads)
      if (other != nullptr && other->block_ == thread.block_) wake(*other);
  }
  return barrier.was_good;
}

}  // namespace hocket::cpu
