// SPDX-License-Identifier: Apache-2.0
// A world below the engine that a test holds in its hands: time that only moves when somebody
// waits, links that deliver when they are let, a device that computes at once or when told, a
// board. Ranks share one process, so that a wait on one drives all. Threads: those of the test,
// under the process's baton; `held` may be set by any. Ownership: World owns all but the process.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "algo/select.h"
#include "algo/table.h"
#include "device/cpu/cpu_device.h"
#include "engine/process.h"

namespace hocket::engine::fake {

class Clock final : public world::Clock {
 public:
  Instant now() override {
    time_ = time_ + step;
    return time_;
  }
  void advance(Duration by) { time_ = time_ + by; }
  Duration step{0};  ///< every look costs so much

 private:
  Instant time_{1'000'000'000};
};

/// One thread alone is never woken from a wait: it passes the time.
class Bell : public world::Doorbell {
 public:
  explicit Bell(Clock& clock) : clock_(clock) {}
  std::uint32_t ticket() override { return rings_; }
  void wait(std::uint32_t ticket, Duration most) override {
    if (ticket == rings_) clock_.advance(most);
    waits.push_back(ticket == rings_ ? most : Duration{0});
  }
  void ring() override { ++rings_; }
  std::uint32_t cores() override { return core_count; }
  void yield() override { clock_.advance(nanoseconds(300)); }
  std::uint32_t rings() const { return rings_; }
  std::vector<Duration> waits;  ///< how long each was; 0: rung before
  std::uint32_t core_count = 1;

 private:
  Clock& clock_;
  std::uint32_t rings_ = 0;
};

class Device final : public world::Device {
 public:
  bool fold(world::Waiter& waiter, const world::Fold& fold) override {
    return end(waiter, cpu_.fold(waiter, fold));
  }
  bool copy(world::Waiter& waiter, Bytes target, ConstBytes source) override {
    return end(waiter, cpu_.copy(waiter, target, source));
  }
  bool scale(world::Waiter& waiter, const world::Scale& scale) override {
    scales.push_back(scale);
    return end(waiter, cpu_.scale(waiter, scale));
  }
  Result<Bytes> allocate(std::uint64_t bytes) override {
    if (bytes > most_bytes) return Error(Code::out_of_memory, "injected");
    allocated.push_back(bytes);
    return cpu_.allocate(bytes);
  }
  void free(Bytes memory) override {
    ++freed;
    cpu_.free(memory);
  }
  /// Ends the oldest action that was kept.
  void end_one() {
    const std::coroutine_handle<> handle = kept.front();
    kept.pop_front();
    handle.resume();
  }

  bool keeps = false;  ///< actions end by end_one()
  std::uint64_t most_bytes = UINT64_MAX;
  std::deque<std::coroutine_handle<>> kept;
  std::vector<world::Scale> scales;
  std::vector<std::uint64_t> allocated;
  int freed = 0;

 private:
  bool end(world::Waiter& waiter, bool done) {
    if (!keeps) return done;
    kept.push_back(waiter.handle);
    return false;
  }
  cpu::CpuDevice cpu_;
};

/// What the ranks share.
struct Board {
  explicit Board(std::uint32_t world) : entered(world), held(world) {}
  using Link = std::tuple<Rank, Rank, ChannelId>;  // from, to
  std::map<Link, std::deque<std::vector<std::byte>>> links;
  std::vector<OpSeq> entered;
  std::optional<world::Failure> failure;
  std::deque<std::atomic<bool>> held;  ///< by rank: nothing arrives there
};

class Fabric final : public world::Fabric {
 public:
  Fabric(Board& board, Rank me) : board_(board), me_(me) {}

  Result<void> enter(const world::Entry& entry) override {
    entries.push_back(entry);
    board_.entered[me_.value] = entry.op;
    return kOk;
  }
  bool ready(world::Waiter& waiter) override {
    return waiter.port != world::Port::arrival ||
           (!board_.held[me_.value].load() && !incoming(waiter).empty());
  }
  void park(world::Waiter& waiter) override {
    waiter.parked = true;
    parked_.push_back(&waiter);
  }
  void unpark(world::Waiter& waiter) override {
    waiter.parked = false;
    std::erase(parked_, &waiter);
  }
  Result<void> write(world::Waiter& waiter, const world::Message& message) override {
    if (broken) return broken->clone();
    std::vector<std::byte>& bytes = written_[waiter.channel];
    const std::byte* const data = message.source.data;
    if (!message.repeats) bytes.assign(data, data + message.source.size);
    repeated += message.repeats ? 1 : 0;
    board_.links[{me_, waiter.peer, waiter.channel}].push_back(bytes);
    return kOk;
  }
  Result<ConstBytes> front(world::Waiter& waiter, std::uint64_t size) override {
    const std::vector<std::byte>& oldest = incoming(waiter).front();
    if (oldest.size() != size) return Error(Code::mismatch, "injected").about_peer(waiter.peer);
    return ConstBytes(oldest.data(), size);
  }
  Result<void> land(world::Waiter& waiter, Bytes target) override {
    TRY(const ConstBytes arrived, front(waiter, target.size));
    std::copy(arrived.data, arrived.data + arrived.size, target.data);
    return kOk;
  }
  void pop(world::Waiter& waiter) override { incoming(waiter).pop_front(); }
  bool poll() override {
    ++polls;
    if (on_poll != nullptr) on_poll->polled();
    bool moved = restless;
    const std::vector<world::Waiter*> parked = parked_;
    for (world::Waiter* waiter : parked) {
      if (!waiter->parked || !ready(*waiter)) continue;
      unpark(*waiter);
      waiter->handle.resume();
      moved = true;
    }
    return moved;
  }

  class Watcher {
   public:
    virtual void polled() = 0;

   protected:
    ~Watcher() = default;
  };
  Watcher* on_poll = nullptr;
  std::optional<Error> broken;  ///< what every write ends with
  bool restless = false;        ///< every poll says that something moved
  std::uint64_t polls = 0;
  std::uint64_t repeated = 0;  ///< messages that were said to repeat the one before, and did
  std::vector<world::Entry> entries;

 private:
  std::deque<std::vector<std::byte>>& incoming(const world::Waiter& waiter) {
    return board_.links[{waiter.peer, me_, waiter.channel}];
  }
  Board& board_;
  const Rank me_;
  std::vector<world::Waiter*> parked_;
  std::map<ChannelId, std::vector<std::byte>> written_;  // last
};

class Membership final : public world::Membership {
 public:
  explicit Membership(Board& board) : board_(board) {}
  world::Missing missing(OpSeq op) override {
    world::Missing missing;
    for (std::uint32_t r = 0; r < board_.entered.size(); ++r) {
      if (board_.entered[r] >= op) continue;
      if (missing.count < world::Missing::kNamed) missing.ranks[missing.count] = Rank{r};
      ++missing.count;
    }
    return missing;
  }
  world::Failure fail(const world::Failure& mine) override {
    if (!board_.failure) board_.failure = mine;
    return *board_.failure;
  }
  std::optional<world::Failure> failure() override {
    const std::optional<world::Failure> known = board_.failure;
    if (on_look != nullptr) on_look->looked();
    return known;
  }

  class Watcher {
   public:
    virtual void looked() = 0;  ///< and has got its answer

   protected:
    ~Watcher() = default;
  };
  Watcher* on_look = nullptr;

 private:
  Board& board_;
};

class Sink final : public world::TraceSink {
 public:
  void record(const trace::Event& event) override { events.push_back(event); }
  std::vector<trace::Event> events;
};

/// The parts of one rank.
struct Parts {
  Parts(Board& board, Rank me) : fabric(board, me), membership(board) {}
  Fabric fabric;
  Membership membership;
  Device device;
  Sink sink;
};

struct Options {
  Duration op_timeout = kForever;
  const char* algorithm = nullptr;
  std::uint16_t channels = 1;
  std::uint32_t nodes = 1;
};

/// The config of a communicator of so many ranks.
inline std::shared_ptr<const Config> make_config(std::uint32_t world, const Options& options = {}) {
  algo::Agreed agreed;
  agreed.topology = std::make_shared<const Topology>(options.nodes, world / options.nodes);
  agreed.channels = options.channels;
  agreed.costs.link[0] = agreed.costs.link[1] = {200'000, 160};
  agreed.costs.message = 100'000;
  if (options.algorithm != nullptr)
    agreed.rules.push_back({.algorithm = options.algorithm, .origin = "the test"});
  Config config;
  config.topology = agreed.topology;
  config.op_timeout = options.op_timeout;
  config.channels = options.channels;
  Result<std::shared_ptr<const algo::Tuning>> tuning = algo::Tuning::make(std::move(agreed));
  EXPECT_TRUE(tuning);
  config.tuning = *tuning;
  return std::make_shared<const Config>(std::move(config));
}

/// A communicator whose ranks all live in `process`.
class World {
 public:
  World(Process& process, world::Clock& clock, std::uint32_t world, const Options& options = {})
      : board(world), process_(process) {
    const std::shared_ptr<const Config> config = make_config(world, options);
    for (std::uint32_t r = 0; r < world; ++r) {
      Parts& made = parts.emplace_back(board, Rank{r});
      const world::World below{made.fabric, made.membership, made.device,
                               clock,       made.sink,       process.arena()};
      ranks.emplace_back(Communicator::Parts{below, process.loop(), process, config, Rank{r}});
      process.attach(ranks.back());
    }
  }
  ~World() {
    for (Communicator& rank : ranks)
      if (rank.pending() > 0) rank.abort("the test is over");
    for (Communicator& rank : ranks) process_.detach(rank);
  }

  Board board;
  std::deque<Parts> parts;  // deques: nothing moves
  std::deque<Communicator> ranks;

 private:
  Process& process_;
};

}  // namespace hocket::engine::fake
