// SPDX-License-Identifier: Apache-2.0
// What ops on streams promise, shown on the GPUs of this machine through hocket.h:
//
//   device_streams [OPS [SEED]]
//
// OPS mixed ops, eager and in graphs, of two communicators on two streams, bit-exact; then with a
// late rank, and behind long queues; then what fails: a rank that calls something else, that never
// calls, an abort, a killed process; then memory and times of communicators. Ranks are threads, one
// for each GPU and two at least; for the killed one, processes. Prints figures and ends with 1 at
// the first thing that is wrong. Without a GPU there is nothing to do; ranks that share one need
// more than one connection (CUDA_DEVICE_MAX_CONNECTIONS), or their ops wait in each other's queue.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "device/cuda/gpu_suite.h"
#include "hocket/hocket.h"
#include "host/clock.h"

namespace hocket::api {
namespace {

using cuda::fail;
using cuda::Gpu;
using cuda::Gpus;
using cuda::Queue;

Instant now() {
  static host::Clock clock;
  return clock.now();
}
double ms_since(Instant start) { return static_cast<double>((now() - start).ns) / 1e6; }
void pass(Duration time) {
  for (const Instant until = now() + time; now() < until;) std::this_thread::yield();
}

void must(hocket_result result) {
  if (result != HOCKET_SUCCESS) fail(hocket_last_error());
}

hocket_id new_id() {
  hocket_id id;
  must(hocket_get_id(&id));
  return id;
}

struct Place {
  const Gpu& gpu;
  int world, rank;
};

/// A rank's communicator on its GPU.
class Comm {
 public:
  Comm(const Place& place, const hocket_id& id, int op_timeout_ms = 0,
       const char* algorithm = nullptr) {
    place.gpu.use();
    hocket_options options = HOCKET_OPTIONS_INIT;
    options.cuda = 1;
    options.init_timeout_ms = 30'000;
    options.op_timeout_ms = op_timeout_ms;
    options.algorithm = algorithm;
    must(hocket_comm_create(&comm_, place.world, &id, place.rank, &options));
  }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm() { must(hocket_comm_destroy(comm_)); }
  operator hocket_comm*() const { return comm_; }  // NOLINT: the C functions take it

  /// The code of its failure, once it has one, or success after that long.
  hocket_result await_failure(double ms) const {
    hocket_result error = HOCKET_SUCCESS;
    for (const auto start = now(); error == HOCKET_SUCCESS && ms_since(start) < ms;)
      must(hocket_comm_async_error(comm_, &error));
    return error;
  }

 private:
  hocket_comm* comm_ = nullptr;
};

/// `body(rank, together)` on a thread each. Ranks that share a context have all made their streams
/// before one of them calls anything: the first work of a stream may wait for others' kernels.
template <class Body>
void run_ranks(int world, Body body) {
  std::barrier together(world);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] { body(rank, together); });
  for (std::thread& thread : threads) thread.join();
}

// ---- mixed ops
// -----------------------------------------------------------------------------------

/// The same on all ranks.
struct Step {
  hocket_collective collective = HOCKET_ALL_REDUCE;
  std::size_t count = 0;
  int root = 0, comm = 0, stream = 0;
  int late = -1;  ///< a rank that comes 150 ms after the others
};

struct Batch {
  static constexpr std::size_t kSteps = 32, kMostCount = 128 << 10;
  std::array<Step, kSteps> steps;
  std::size_t captured = 0;  ///< so many of the first are of one communicator, in a graph
};

enum class Trouble { none, late_ranks, long_queues };

std::int32_t value(int rank, std::size_t i) {
  return static_cast<std::int32_t>((rank + 1) * 1'000'003 + static_cast<std::int32_t>(i) * 7);
}

Batch draw(Prng& random, int world, Trouble trouble) {
  Batch batch;
  const bool has_graph = random.below(2) == 0;
  batch.captured = has_graph ? 2 + random.below(6) : 0;
  for (std::size_t i = 0; i < Batch::kSteps; ++i) {
    Step& step = batch.steps[i];
    step.collective = static_cast<hocket_collective>(random.below(8));
    const std::uint64_t most = std::uint64_t{1} << random.below(18);
    step.count = std::min<std::size_t>(random.below(most + 1), Batch::kMostCount);
    step.root = static_cast<int>(random.below(static_cast<std::uint64_t>(world)));
    step.comm = static_cast<int>(random.below(2));
    step.stream = static_cast<int>(random.below(2));
    if (i < batch.captured) step.comm = batch.steps[0].comm, step.stream = batch.steps[0].stream;
    if (trouble == Trouble::late_ranks && i == batch.captured)
      step.late = static_cast<int>(random.below(static_cast<std::uint64_t>(world)));
  }
  return batch;
}

/// One rank's part in batches: each step writes an output of its own, checked at the end.
class Mixed {
 public:
  struct Seat {
    int world, rank;
    const char* algorithm;  ///< of the first communicator, where a collective has it
  };
  Mixed(const Gpus& gpus, const std::array<hocket_id, 2>& ids, const Seat& seat)
      : gpu_(gpus.of(static_cast<std::uint32_t>(seat.rank))),
        world_(seat.world),
        rank_(seat.rank),
        comms_{Comm({gpu_, world_, rank_}, ids[0], kPatience_ms, seat.algorithm),
               Comm({gpu_, world_, rank_}, ids[1], kPatience_ms)},
        queues_{Queue(gpu_), Queue(gpu_)},
        input_(gpu_, room()),
        output_(gpu_, Batch::kSteps * room()),
        filler_(gpu_, 4096) {
    std::vector<std::int32_t> values(room() / sizeof(std::int32_t));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(rank_, i);
    input_.write(values.data(), room());
    gpu_.call(gpu_->event.create, &joint_, cuda::kEventDisableTiming);
    found_.resize(values.size());
  }
  ~Mixed() { gpu_.call(gpu_->event.destroy, joint_); }
  Mixed(const Mixed&) = delete;
  Mixed& operator=(const Mixed&) = delete;

  void run(const Batch& batch, Trouble trouble) {
    if (trouble == Trouble::long_queues) fill_queue();
    if (batch.captured > 0) run_graph(batch);
    for (std::size_t i = batch.captured; i < Batch::kSteps; ++i) {
      if (batch.steps[i].late == rank_) pass(milliseconds(150));
      call(batch.steps[i], i);
    }
    for (Queue& queue : queues_) queue.wait();
    for (const Comm& comm : comms_) {
      hocket_result error = HOCKET_SUCCESS;
      must(hocket_comm_async_error(comm, &error));
      must(error);
    }
    for (std::size_t i = 0; i < Batch::kSteps; ++i) check(batch.steps[i], i);
  }

 private:
  std::size_t room() const {
    return Batch::kMostCount * static_cast<std::size_t>(world_) * sizeof(std::int32_t);
  }
  std::byte* output(std::size_t step) const { return output_.data() + step * room(); }

  void call(const Step& s, std::size_t at) {
    const std::byte* const in = input_.data();
    std::byte* const out = output(at);
    hocket_comm* const comm = comms_[static_cast<std::size_t>(s.comm)];
    void* const stream = queues_[static_cast<std::size_t>(s.stream)].stream();
    constexpr hocket_type kType = HOCKET_INT32;
    switch (s.collective) {
      case HOCKET_ALL_REDUCE:
        return must(hocket_stream_all_reduce(in, out, s.count, kType, HOCKET_SUM, comm, stream));
      case HOCKET_ALL_GATHER:
        return must(hocket_stream_all_gather(in, out, s.count, kType, comm, stream));
      case HOCKET_REDUCE_SCATTER:
        return must(
            hocket_stream_reduce_scatter(in, out, s.count, kType, HOCKET_SUM, comm, stream));
      case HOCKET_BROADCAST:
        return must(hocket_stream_broadcast(in, out, s.count, kType, s.root, comm, stream));
      case HOCKET_REDUCE:
        return must(
            hocket_stream_reduce(in, out, s.count, kType, HOCKET_SUM, s.root, comm, stream));
      case HOCKET_ALLTOALL:
        return must(hocket_stream_alltoall(in, out, s.count, kType, comm, stream));
      case HOCKET_SEND_RECV:
        must(hocket_group_start());
        must(hocket_stream_recv(out, s.count, kType, before(), comm, stream));
        must(hocket_stream_send(in, s.count, kType, (rank_ + 1) % world_, comm, stream));
        return must(hocket_group_end(nullptr));
      default:
        return must(hocket_stream_barrier(comm, stream));
    }
  }
  int before() const { return (rank_ + world_ - 1) % world_; }

  /// `later` goes on when `first` has come this far: the user's business around graphs.
  void order(Queue& first, Queue& later) {
    gpu_.call(gpu_->event.record, joint_, first.stream());
    gpu_.call(gpu_->stream.wait_event, later.stream(), joint_, 0);
  }

  void run_graph(const Batch& batch) {
    Queue& own = queues_[static_cast<std::size_t>(batch.steps[0].stream)];
    Queue& other = queues_[1 - static_cast<std::size_t>(batch.steps[0].stream)];
    order(other, own);
    own.capture();
    for (std::size_t i = 0; i < batch.captured; ++i) call(batch.steps[i], i);
    own.end_capture();
    for (int i = 0; i < 2; ++i) own.replay();
    order(own, other);
  }

  /// Beyond what the device's queue takes.
  void fill_queue() {
    constexpr int kLaunches = 2000;
    for (int i = 0; i < kLaunches; ++i)
      gpu_.call(gpu_->memory.set, reinterpret_cast<cuda::Address>(filler_.data()), 0xee,
                filler_.size(), queues_[0].stream());
  }

  std::int32_t total(std::size_t i) const {
    std::uint32_t sum = 0;
    for (int r = 0; r < world_; ++r) sum += static_cast<std::uint32_t>(value(r, i));
    return static_cast<std::int32_t>(sum);
  }

  /// Element i of block b of a step's output.
  std::int32_t wanted(const Step& s, int b, std::size_t i) const {
    const std::size_t mine = s.count * static_cast<std::size_t>(rank_);
    switch (s.collective) {
      case HOCKET_ALL_REDUCE:
      case HOCKET_REDUCE:
        return total(i);
      case HOCKET_REDUCE_SCATTER:
        return total(mine + i);
      case HOCKET_BROADCAST:
        return value(s.root, i);
      case HOCKET_ALL_GATHER:
        return value(b, i);
      case HOCKET_SEND_RECV:
        return value(before(), i);
      default:
        return value(b, mine + i);
    }
  }

  void check(const Step& s, std::size_t at) {
    const bool has_blocks = s.collective == HOCKET_ALL_GATHER || s.collective == HOCKET_ALLTOALL;
    const bool has_output = s.collective != HOCKET_BARRIER &&
                            (s.collective != HOCKET_REDUCE || s.root == rank_) && s.count > 0;
    if (!has_output) return;
    const int blocks = has_blocks ? world_ : 1;
    const std::size_t size = s.count * static_cast<std::size_t>(blocks) * sizeof(std::int32_t);
    gpu_.call(gpu_->memory.to_host, found_.data(), reinterpret_cast<cuda::Address>(output(at)),
              size, queues_[0].stream());
    queues_[0].wait();
    for (int b = 0; b < blocks; ++b)
      for (std::size_t i = 0; i < s.count; ++i) {
        const std::int32_t found = found_[s.count * static_cast<std::size_t>(b) + i];
        if (found == wanted(s, b, i)) continue;
        fail(
            fmt::format("rank {} step {} collective {} count {} root {}: element {} of block {} is "
                        "{}, not {}",
                        rank_, at, static_cast<int>(s.collective), s.count, s.root, i, b, found,
                        wanted(s, b, i)));
      }
  }

  static constexpr int kPatience_ms = 20'000;  // so that no fault of ours hangs

  const Gpu& gpu_;
  const int world_, rank_;
  const std::array<Comm, 2> comms_;
  std::array<Queue, 2> queues_;
  cuda::Memory input_, output_, filler_;
  cuda::Event joint_ = nullptr;
  std::vector<std::int32_t> found_;
};

struct Run {
  std::uint64_t ops, seed;
  Trouble trouble = Trouble::none;
  const char* algorithm = nullptr;
};

void run_mixed(const Gpus& gpus, const Run& run) {
  const int world = std::max(2, static_cast<int>(gpus.size()));
  const std::array<hocket_id, 2> ids = {new_id(), new_id()};
  const auto start = now();
  const std::uint64_t batches = (run.ops + Batch::kSteps - 1) / Batch::kSteps;
  run_ranks(world, [&](int rank, std::barrier<>& together) {
    Mixed mixed(gpus, ids, {world, rank, run.algorithm});
    together.arrive_and_wait();
    Prng random(run.seed);
    for (std::uint64_t i = 0; i < batches; ++i)
      mixed.run(draw(random, world, run.trouble), run.trouble);
  });
  constexpr const char* kTroubles[] = {"", ", a rank 150 ms late in each batch",
                                       ", behind 2,000 launches"};
  fmt::print("{} mixed ops{}{}{}: all right, {:.0f} ms\n", batches * Batch::kSteps,
             kTroubles[static_cast<int>(run.trouble)],
             run.algorithm != nullptr ? ", half of them round by round: " : "",
             run.algorithm != nullptr ? run.algorithm : "", ms_since(start));
  std::fflush(stdout);
}

// ---- what fails
// ----------------------------------------------------------------------------------

void expect(bool condition, const std::string& what) {
  if (!condition) fail(what + "; the last error was: " + hocket_last_error());
}

/// Ends when the queue is empty; ms. More than that long is a failure.
double drained(Queue& queue, double most_ms) {
  const auto start = now();
  while (!queue.is_idle())
    if (ms_since(start) > most_ms) fail("a stream did not drain");
  return ms_since(start);
}

struct Failing {
  Failing(const Gpus& gpus, const hocket_id& id, int rank, int op_timeout_ms)
      : gpu(gpus.of(static_cast<std::uint32_t>(rank))),
        comm({gpu, 2, rank}, id, op_timeout_ms),
        queue(gpu),
        memory(gpu, 1 << 20) {}
  hocket_result all_reduce(std::size_t count) {
    return hocket_stream_all_reduce(memory.data(), memory.data(), count, HOCKET_INT32, HOCKET_SUM,
                                    comm, queue.stream());
  }
  const Gpu& gpu;
  const Comm comm;
  Queue queue;
  cuda::Memory memory;
};

/// A message of which both ends are wrong about the other.
void run_wrong_message(const Gpus& gpus, std::size_t sent, std::size_t received) {
  const hocket_id id = new_id();
  run_ranks(2, [&](int rank, std::barrier<>& together) {
    Failing self(gpus, id, rank, 5000);
    together.arrive_and_wait();
    void* const memory = self.memory.data();
    void* const stream = self.queue.stream();
    must(rank == 0 ? hocket_stream_send(memory, sent, HOCKET_UINT8, 1, self.comm, stream)
                   : hocket_stream_recv(memory, received, HOCKET_UINT8, 0, self.comm, stream));
    drained(self.queue, 6000);
    expect(self.comm.await_failure(2000) == HOCKET_MISMATCH, "no mismatch of a message");
    if (rank == 1)
      fmt::print("sent {}, received {} bytes: {}\n", sent, received, hocket_last_error());
  });
}

void run_mismatch(const Gpus& gpus) {
  run_wrong_message(gpus, 10, 11);
  run_wrong_message(gpus, 10, 1 << 20);
  run_wrong_message(gpus, 1 << 20, 10);
  const hocket_id id = new_id();
  run_ranks(2, [&](int rank, std::barrier<>& together) {
    Failing self(gpus, id, rank, 5000);
    together.arrive_and_wait();
    must(self.all_reduce(rank == 0 ? 10 : 11));
    const double ms = drained(self.queue, 6000);
    expect(self.comm.await_failure(2000) == HOCKET_MISMATCH, "no mismatch");
    expect(self.all_reduce(10) == HOCKET_MISMATCH, "a call after a mismatch went on");
    if (rank == 0) fmt::print("mismatch: told after {:.1f} ms: {}\n", ms, hocket_last_error());
  });
}

void run_timeout(const Gpus& gpus) {
  const hocket_id id = new_id();
  run_ranks(2, [&](int rank, std::barrier<>& together) {
    Failing self(gpus, id, rank, 300);
    together.arrive_and_wait();
    if (rank == 0) must(self.all_reduce(10));
    const double ms = drained(self.queue, 2000);
    expect(self.comm.await_failure(2000) == HOCKET_TIMEOUT, "no timeout");
    if (rank == 0) fmt::print("timeout of 300 ms: after {:.0f} ms: {}\n", ms, hocket_last_error());
  });
}

void run_abort(const Gpus& gpus) {
  double worst = 0;
  for (int i = 0; i < 20; ++i) {
    const hocket_id id = new_id();
    std::atomic<double> longest = 0;
    run_ranks(2, [&](int rank, std::barrier<>& together) {
      Failing self(gpus, id, rank, 0);
      together.arrive_and_wait();
      if (rank == 0)
        for (int k = 0; k < 1 + i; ++k) must(self.all_reduce(i % 2 == 0 ? 10 : 200'000));
      pass(milliseconds(i));
      const auto start = now();
      if (rank == i % 2) must(hocket_comm_abort(self.comm));
      expect(self.comm.await_failure(2000) == HOCKET_ABORTED, "no abort");
      drained(self.queue, 2000);
      if (rank == 0) longest = ms_since(start);
    });
    worst = std::max(worst, longest.load());
  }
  fmt::print("abort by either rank, 20 states: streams empty after at most {:.0f} ms\n", worst);
  expect(worst < 1000, "an abort took longer than a second");
}

struct Killed {
  std::atomic<int> ready;
  std::atomic<std::int64_t> killed_at;
  std::atomic<double> drained_ms;
};

/// Rank 1's process is killed in the middle of ops.
void run_killed_rank(const hocket_id& id, int rank, Killed& shared) {
  Result<cuda::Driver> driver = cuda::Driver::open();
  if (!driver) fail(driver.error().text());
  const Gpus gpus(*driver);
  Failing self(gpus, id, rank, 0);
  hocket_result result = HOCKET_SUCCESS;
  for (int i = 0; result == HOCKET_SUCCESS; ++i) {
    if (i == 20) ++shared.ready;
    result = self.all_reduce(100'000);
    if (i % 8 == 7) drained(self.queue, 20'000);
  }
  drained(self.queue, 5000);
  shared.drained_ms = ms_since(Instant{shared.killed_at});
  expect(self.comm.await_failure(2000) == HOCKET_PEER_LOST, "the loss was not told");
  const std::string text = hocket_last_error();
  expect(text.find("peer 1: peer lost") != text.npos, "another one was blamed");
}

void run_kill() {
  void* const memory =
      mmap(nullptr, sizeof(Killed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  double worst = 0;
  for (int i = 0; i < 5; ++i) {
    Killed& shared = *::new (memory) Killed{};
    const hocket_id id = new_id();
    std::array<pid_t, 2> ranks{};
    for (int rank = 0; rank < 2; ++rank) {
      ranks[static_cast<std::size_t>(rank)] = fork();
      if (ranks[static_cast<std::size_t>(rank)] > 0) continue;
      run_killed_rank(id, rank, shared);
      _exit(0);
    }
    const auto start = now();
    while (shared.ready < 2) {
      pass(milliseconds(1));
      if (waitpid(-1, nullptr, WNOHANG) == 0 && ms_since(start) < 30'000) continue;
      for (const pid_t one : ranks) kill(one, SIGKILL);
      fail("two ranks did not come to work");
    }
    pass(milliseconds(7 * i));
    shared.killed_at = now().ns;
    kill(ranks[1], SIGKILL);
    int status = 0;
    waitpid(ranks[1], &status, 0);
    waitpid(ranks[0], &status, 0);
    if (status != 0) fail("the survivor of a killed rank ended badly");
    worst = std::max(worst, shared.drained_ms.load());
  }
  munmap(memory, sizeof(Killed));
  fmt::print("a rank killed, 5 times: the other's stream empty after at most {:.0f} ms\n", worst);
  if (worst >= 2000) fail("more than 2 s");
}

// ---- memory and times
// ----------------------------------------------------------------------------

std::size_t free_memory(const Gpu& gpu) {
  std::size_t free = 0, total = 0;
  gpu.call(gpu->memory.info, &free, &total);
  return free;
}

void run_footprint(const Gpus& gpus) {
  constexpr int kFurther = 64;
  std::vector<hocket_id> ids;
  for (int i = 0; i <= kFurther; ++i) ids.push_back(new_id());
  run_ranks(2, [&](int rank, std::barrier<>& together) {
    const Gpu& gpu = gpus.of(static_cast<std::uint32_t>(rank));
    const double each = gpus.size() > 1 ? 1 : 2;  // ranks that share a GPU
    Queue queue(gpu);
    cuda::Memory memory(gpu, 4096);
    together.arrive_and_wait();
    std::vector<std::unique_ptr<Comm>> comms;
    std::vector<double> ms;
    std::vector<std::size_t> free;
    for (const hocket_id& id : ids) {
      together.arrive_and_wait();
      free.push_back(free_memory(gpu));
      together.arrive_and_wait();
      const auto start = now();
      comms.push_back(std::make_unique<Comm>(Place{gpu, 2, rank}, id));
      must(hocket_stream_all_reduce(memory.data(), memory.data(), 2, HOCKET_INT32, HOCKET_SUM,
                                    *comms.back(), queue.stream()));
      queue.wait();
      ms.push_back(ms_since(start));
    }
    together.arrive_and_wait();
    free.push_back(free_memory(gpu));
    if (rank == 0) {
      const auto mib = [&](std::size_t a, std::size_t b) {
        return static_cast<double>(a - b) / each / (1 << 20);
      };
      fmt::print(
          "first communicator and op: {:.1f} ms, {:.1f} MiB; a further one: {:.1f} ms, {:.1f} "
          "MiB; {} further ones: {:.1f} MiB\n",
          ms[0], mib(free[0], free[1]), *std::max_element(ms.begin() + 1, ms.end()),
          mib(free[1], free[2]), kFurther, mib(free[1], free.back()));
    }
    together.arrive_and_wait();
  });
}

/// Whether there is anything to do here; found out in a child, as a process that has begun to use a
/// GPU cannot fork others that do.
bool has_gpu() {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const Result<cuda::Driver> driver = cuda::Driver::open();
    const char* why = cuda::images().empty() ? "this build has no kernels" : nullptr;
    if (!driver) why = driver.error().message().c_str();
    if (why != nullptr) fmt::print("device_streams: nothing to do, {}\n", why);
    std::fflush(nullptr);
    _exit(why == nullptr ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

int run(std::uint64_t ops, std::uint64_t seed) {
  if (!has_gpu()) return 0;
  run_kill();
  const Result<cuda::Driver> driver = cuda::Driver::open();
  if (!driver) fail(driver.error().text());
  const Gpus gpus(*driver);
  fmt::print("device_streams: {} x {}, ops={} seed={}\n", gpus.size(), gpus.of(0).name(), ops,
             seed);
  run_footprint(gpus);
  const std::uint64_t fewer = std::min<std::uint64_t>(ops, 50 * Batch::kSteps);
  run_mixed(gpus, {ops, seed});
  for (const char* const algorithm : {"ring", "halving_doubling", "chain", "binomial"})
    run_mixed(gpus, {fewer, seed + 3, Trouble::none, algorithm});
  run_mixed(gpus, {fewer, seed + 1, Trouble::late_ranks});
  run_mixed(gpus, {fewer, seed + 2, Trouble::long_queues});
  run_mismatch(gpus);
  run_timeout(gpus);
  run_abort(gpus);
  return 0;
}

}  // namespace
}  // namespace hocket::api

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 0) : otherwise;
  };
  return hocket::api::run(number(1, 3200), number(2, 1));
}
