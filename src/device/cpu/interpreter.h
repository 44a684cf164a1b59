// SPDX-License-Identifier: Apache-2.0
// A domain of 1 to 16 GPUs that there is no GPU for: runs the actions of all ranks' streams by the
// kernels' twins. Every thread of every block is a fiber that may be suspended wherever it touches
// memory or waits, and a seed says who goes on, so what runs is one interleaving of the very text
// that a GPU runs. Ranks run at their own pace, as far as the protocol lets them. Stores to
// mailboxes are under way for a while and come in any order, but for those to one address, and that
// a flag comes after all that its block has sent before. Packets and vectors are whole. What this
// cannot show is the rest of a device's memory model.
//
// Threads: one. Ownership: owns mailboxes, laps, reports; borrows the pool and the users' buffers,
// which are touched in run() alone. Failure: run() tells when nobody can move; what a kernel gives
// up for is in its rank's report; a store to no mailbox is a failed CHECK.
// Cost: some 60 ns for each access of each thread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "device/cpu/fiber.h"
#include "device/kernels/domain.h"
#include "world/transfers.h"

namespace hocket::cpu {

class Interpreter;

/// One thread of a launched kernel: the Thread of device/kernels/kernel.h.
class Thread {
 public:
  Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  std::uint32_t block() const { return block_; }
  std::uint32_t blocks() const { return work_->blocks; }
  std::uint32_t thread() const { return thread_; }
  std::uint32_t threads() const { return work_->threads; }
  void sync();
  bool sync(bool good);
  std::uint64_t load_word(const std::byte* from);
  void store_word(std::byte* to, std::uint64_t word);
  kernels::Vector load_vector(const std::byte* from);
  void store_vector(std::byte* to, const kernels::Vector& vector);
  std::uint64_t load(const std::byte* from, std::uint32_t bytes);
  void store(std::byte* to, std::uint64_t word, std::uint32_t bytes);
  kernels::Packet load_packet(const kernels::Packet* from);
  void store_packet(kernels::Packet* to, const kernels::Packet& packet);
  kernels::Flag load_flag(const kernels::Flag* from);
  void store_flag(kernels::Flag* to, const kernels::Flag& flag);
  std::uint32_t load_lap(const std::uint32_t* from);
  void store_lap(std::uint32_t* to, std::uint32_t lap);
  bool patient(std::uint32_t spins, const kernels::Domain& domain, std::uint32_t from,
               std::uint32_t lap);
  bool seldom(std::uint32_t) const { return true; }
  void report(const kernels::Domain& domain, const kernels::Report& report);

 private:
  friend class Interpreter;
  /// What a launch does, and on which grid.
  struct Work {
    std::uint32_t blocks = 1, threads = 1;
    world::Action action = {};
    std::unique_ptr<const world::Transfers> transfers = {};  ///< if it is no action
    std::uint32_t stripes = 1;
  };
  enum class State : std::uint8_t { ready, waiting, syncing };
  /// Addresses that it has read since it last waited: what may end its patience.
  struct Polled {
    std::array<const void*, 8> addresses;
    std::uint32_t count = 0;  ///< more than there is room for: any
    bool changed = false;
    bool has(const void* address) const;
  };
  void turn() { fiber_.suspend(); }
  void poll(const void* address);
  void send(void* to, const void* from, std::uint32_t bytes, bool releases);

  Fiber fiber_;
  Interpreter* interpreter_ = nullptr;
  const Work* work_ = nullptr;
  std::uint32_t rank_ = 0, block_ = 0, thread_ = 0;
  State state_ = State::ready;
  std::size_t place_ = 0;             // among those that are ready
  std::uint32_t from_ = 0, lap_ = 0;  // whom it waits for
  Polled polled_;
};

/// Threads that have ended, whose stacks may be used again.
class ThreadPool {
 public:
  std::unique_ptr<Thread> take();
  void give(std::unique_ptr<Thread> thread) { idle_.push_back(std::move(thread)); }

 private:
  std::vector<std::unique_ptr<Thread>> idle_;
};

using Kernel = void(Thread&, const kernels::Domain&, const world::Action&);

struct DomainOptions {
  kernels::Capacity capacity;  ///< and how many ranks
  std::uint64_t seed = 0;
  std::uint32_t lap = 0;     ///< the last one of ops that have been
  std::uint32_t chunk = 0;   ///< the same of all stripes of transfers
  Kernel* kernel = nullptr;  ///< null: the twin of the action's lowering (twin.h)
};

class Interpreter {
 public:
  enum class End : std::uint8_t {
    done,    ///< all streams are empty
    stuck,   ///< nobody can move; waiting() says who waits for whom
    paused,  ///< so many turns have passed
  };
  static constexpr std::uint64_t kForEver = ~std::uint64_t{0};

  Interpreter(ThreadPool& pool, const DomainOptions& options);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Appends to the rank's stream.
  void launch(std::uint32_t rank, const world::Action& action);
  /// With so many threads for each stripe.
  void launch(std::uint32_t rank, const world::Transfers& transfers, std::uint32_t threads);
  End run(std::uint64_t turns = kForEver);
  /// Writes the rank's stop word.
  void stop(std::uint32_t rank);
  /// The deadline of all that run and will be launched passes.
  void time_out();

  const kernels::Report& report(std::uint32_t rank) const { return ranks_[rank].report; }
  /// Launches of the rank that have ended.
  std::uint32_t ended(std::uint32_t rank) const { return ranks_[rank].ended; }
  std::uint64_t turns() const { return turns_; }
  /// A line each: "rank 2 waits for rank 0 in lap 7: 3 threads".
  std::string waiting() const;

 private:
  friend class Thread;
  struct alignas(128) Line {
    std::array<std::byte, 128> bytes = {};
  };
  struct Barrier {
    std::uint32_t arrived = 0;
    bool good = true, was_good = true;  ///< all that have arrived; those of the last time
  };
  struct Rank {
    kernels::Domain domain;
    std::vector<Line> mailbox;
    std::array<std::uint32_t, kernels::kMostBlocks> laps = {};
    std::array<std::uint32_t, kernels::kChunkWords> chunks = {};
    std::uint32_t stop = 0, given_up = 0;
    kernels::Report report;
    std::deque<Thread::Work> stream;               // the first one runs, if there are threads
    std::vector<std::unique_ptr<Thread>> threads;  // of the launch; null: has ended
    std::vector<Barrier> barriers;                 // by block
    std::uint32_t running = 0, ended = 0;
  };
  /// Whom chance favours for a while: ranks run ahead, threads stay behind.
  struct Mood {
    std::uint64_t favoured = 0;
    std::uint32_t turns = 0;
    std::uint32_t pace = 4;  ///< of deliveries, in 8 turns
    bool ranks = true;
  };
  struct Sent {
    std::byte* to;
    std::array<std::byte, 16> bytes;
    std::uint32_t size;
    std::uint32_t rank, block;  ///< who sent it
    bool releases;              ///< comes after all that its block has sent before
    bool waits_for(const Sent& earlier) const;
  };

  static void run_kernel(void* thread);
  void launch(std::uint32_t rank, Thread::Work work);
  void begin(std::uint32_t rank);
  void end(Thread& thread);
  void change_mood();
  Thread& choose();
  void deliver();
  bool favours(const Thread& thread) const;
  bool gives_up(const Rank& rank) const;
  void wait(Thread& thread);
  void add_ready(Thread& thread);
  void remove_ready(const Thread& thread);
  void wake(Thread& thread);
  void wake_rank(Rank& rank);
  void stored(const void* address);
  bool sync(Thread& thread, bool good);
  Rank* owner_of(const void* address);

  ThreadPool& pool_;
  Kernel* const kernel_;
  Prng random_;
  std::deque<Rank> ranks_;  // they do not move
  std::vector<Thread*> ready_;
  std::vector<Sent> sent_;  // and on their way
  Mood mood_;
  std::uint64_t turns_ = 0;
  bool late_ = false;
};

}  // namespace hocket::cpu
