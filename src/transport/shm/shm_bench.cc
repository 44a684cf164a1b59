// SPDX-License-Identifier: Apache-2.0
// Two ranks on two cores. What to expect: a flag goes from core to core in 0.05-0.1 us, so a round
// trip of 8 bytes takes little more than 0.2 us. A message that is read from the other process's
// memory costs a system call (0.5-2 us) and one copy; one through the segment costs two copies, of
// which each rank makes one. `exchange` is an all_reduce of two ranks: half the buffer is folded,
// half lands; its yardstick is `bare_exchange`, the same without any protocol.
#include <benchmark/benchmark.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "host/clock.h"
#include "host/random.h"
#include "transport/shm/network.h"

namespace hocket::transport::shm {
namespace {

enum Mode : std::int64_t { kDirect, kStaged, kNear };

void pin(unsigned core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core % std::max(1u, std::thread::hardware_concurrency()), &cores);
  ::sched_setaffinity(0, sizeof cores, &cores);
}

// One of the two ranks, joined.
class Side {
 public:
  Side(Node& node, const world::UniqueId& id, Rank me) : me_(me), peer_(Rank{1 - me.value}) {
    Network network(node);
    world::Join join{.id = id, .rank = me, .world = 2, .slice_bytes = 1 << 20, .channels = 2};
    join.deadline = node.clock().now() + seconds(10);
    endpoint_ = std::move(network.join(join)).value();
  }
  world::Waiter waiter(world::Port port, std::uint16_t channel = 0) const {
    world::Waiter waiter;
    waiter.owner = me_;
    waiter.channel = ChannelId{channel};
    waiter.aim(peer_, port);
    return waiter;
  }
  world::Fabric& fabric() { return endpoint_->fabric(); }
  void wait(world::Waiter& waiter) {
    while (!fabric().ready(waiter)) static_cast<void>(endpoint_->membership().failure());
  }
  void write(world::Waiter& waiter, ConstBytes source) {
    wait(waiter);
    CHECK(fabric().write(waiter, {.source = source}).has_value(), "write");
  }
  void drain() {
    world::Waiter drained = waiter(world::Port::drained);
    wait(drained);
  }

 private:
  Rank me_, peer_;
  std::unique_ptr<world::Endpoint> endpoint_;
};

// Runs `play(side, state)` of rank 1 beside the caller, who is rank 0: in a process of its own, or
// in a thread.
template <class Play>
class Pair {
 public:
  Pair(Mode mode, Play play) : node_(clock_, random_, options(mode)) {
    pin(0);
    CHECK(random_.fill({id_.data(), id_.size()}).has_value(), "random");
    if (mode == kNear) {
      thread_ = std::thread([this, play] { run(node_, play); });
    } else if ((child_ = ::fork()) == 0) {
      {
        Node node(clock_, random_, options(mode));
        run(node, play);
      }
      ::_exit(0);
    }
    side_ = std::make_unique<Side>(node_, id_, Rank{0});
  }
  ~Pair() {
    if (thread_.joinable()) thread_.join();
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }
  Side& side() { return *side_; }

 private:
  static Options options(Mode mode) { return {.cross_memory = mode != kStaged}; }
  void run(Node& node, Play play) {
    pin(1);
    Side side(node, id_, Rank{1});
    play(side);
  }
  host::Clock clock_;
  host::Random random_;
  world::UniqueId id_{};
  Node node_;
  std::unique_ptr<Side> side_;
  std::thread thread_;
  pid_t child_ = 0;
};

void ping_pong(benchmark::State& state) {
  const auto size = static_cast<std::uint64_t>(state.range(0));
  std::vector<std::byte> data(size);
  Pair pair(static_cast<Mode>(state.range(1)), [size](Side& side) {
    std::vector<std::byte> copy(size);
    world::Waiter in = side.waiter(world::Port::arrival);
    world::Waiter out = side.waiter(world::Port::staged);
    while (true) {
      side.wait(in);
      if (!side.fabric().land(in, {copy.data(), size})) return;
      side.fabric().pop(in);
      side.write(out, {copy.data(), size});
      if (copy[0] == std::byte{1}) break;
    }
    side.drain();
  });
  Side& side = pair.side();
  world::Waiter in = side.waiter(world::Port::arrival);
  world::Waiter out = side.waiter(world::Port::staged);
  const auto turn = [&] {
    side.write(out, {data.data(), size});
    side.wait(in);
    CHECK(side.fabric().land(in, {data.data(), size}).has_value(), "land");
    side.fabric().pop(in);
  };
  for (auto _ : state) turn();
  data[0] = std::byte{1};
  turn();
}
BENCHMARK(ping_pong)
    ->ArgNames({"bytes", "mode"})
    ->ArgsProduct({{8, 40, 64, 512, 4096, 16384, 65536}, {kDirect, kStaged, kNear}})
    ->UseRealTime();

// Rank 1 sends, rank 0 takes; `how` is what it does with a message.
template <class How>
void stream(benchmark::State& state, world::Port port, How how) {
  const auto size = static_cast<std::uint64_t>(state.range(0));
  Pair pair(static_cast<Mode>(state.range(1)), [size, port](Side& side) {
    std::vector<std::byte> data(size, std::byte{1});
    world::Waiter out = side.waiter(port);
    world::Waiter stop = side.waiter(world::Port::arrival, 1);
    while (!side.fabric().ready(stop)) {
      if (!side.fabric().ready(out)) continue;
      if (!side.fabric().write(out, {.source = {data.data(), size}})) return;
    }
    world::Waiter end = side.waiter(world::Port::staged, 1);
    side.write(end, {});
    side.drain();
  });
  Side& side = pair.side();
  world::Waiter in = side.waiter(world::Port::arrival);
  const auto take = [&] {
    side.wait(in);
    how(side, in, size);
    side.fabric().pop(in);
  };
  for (int i = 0; i < 32; ++i) take();
  for (auto _ : state) take();
  state.SetBytesProcessed(state.iterations() * state.range(0));
  world::Waiter stop = side.waiter(world::Port::staged, 1);
  side.write(stop, {});
  // Rank 1 cannot end before all that it has sent is taken.
  world::Waiter end = side.waiter(world::Port::arrival, 1);
  while (!side.fabric().ready(end))
    if (side.fabric().ready(in)) take();
  while (side.fabric().ready(in)) take();
  side.fabric().pop(end);
}

// Eight at a time, as a real fold does.
void add(float* target, const std::byte* arrived, std::uint64_t bytes) {
  using Eight [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;
  const auto* const from = reinterpret_cast<const Eight*>(arrived);
  auto* const to = reinterpret_cast<Eight*>(target);
  for (std::uint64_t i = 0; i < bytes / sizeof(Eight); ++i) to[i] = to[i] + from[i];
}

void stream_fold(benchmark::State& state) {
  std::vector<float> sum(static_cast<std::size_t>(state.range(0)) / sizeof(float));
  stream(state, world::Port::staged, [&](Side& side, world::Waiter& in, std::uint64_t size) {
    Result<ConstBytes> bytes = side.fabric().front(in, size);
    add(sum.data(), bytes.value().data, size);
  });
}
void stream_land(benchmark::State& state) {
  std::vector<std::byte> target(static_cast<std::size_t>(state.range(0)));
  stream(state, world::Port::landing, [&](Side& side, world::Waiter& in, std::uint64_t size) {
    CHECK(side.fabric().land(in, {target.data(), size}).has_value(), "land");
  });
}
#define STREAM_SIZES                                                                           \
  ArgNames({"bytes", "mode"})                                                                  \
      ->ArgsProduct({{4096, 16384, 32768, 65536, 262144, 1048576}, {kDirect, kStaged, kNear}}) \
      ->UseRealTime()
BENCHMARK(stream_fold)->STREAM_SIZES;
BENCHMARK(stream_land)->STREAM_SIZES;

// ---- an all_reduce of two ranks
// ------------------------------------------------------------------

void exchange_once(Side& side, std::vector<float>& data, std::uint64_t slice) {
  const std::uint64_t half = data.size() * sizeof(float) / 2;
  auto* const bytes = reinterpret_cast<std::byte*>(data.data());
  const std::uint64_t mine = side.waiter(world::Port::arrival).owner.value * half;
  const std::uint64_t other = half - mine;
  world::Waiter in = side.waiter(world::Port::arrival);
  world::Waiter out = side.waiter(world::Port::staged);
  for (const bool folds : {true, false}) {
    out.aim(out.peer, folds ? world::Port::staged : world::Port::landing);
    std::uint64_t sent = 0;
    for (std::uint64_t taken = 0; taken < half;) {
      if (sent < half && side.fabric().ready(out)) {
        const std::uint64_t size = std::min(slice, half - sent);
        const ConstBytes source{bytes + (folds ? other : mine) + sent, size};
        CHECK(side.fabric().write(out, {.source = source}).has_value(), "write");
        sent += size;
      }
      if (!side.fabric().ready(in)) continue;
      const std::uint64_t size = std::min(slice, half - taken);
      if (folds) {
        Result<ConstBytes> arrived = side.fabric().front(in, size);
        add(data.data() + (mine + taken) / sizeof(float), arrived.value().data, size);
      } else {
        CHECK(side.fabric().land(in, {bytes + other + taken, size}).has_value(), "land");
      }
      side.fabric().pop(in);
      taken += size;
    }
  }
  side.drain();
}

void exchange(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0)) / sizeof(float);
  const auto slice = static_cast<std::uint64_t>(state.range(2));
  Pair pair(static_cast<Mode>(state.range(1)), [count, slice](Side& side) {
    std::vector<float> data(count);
    world::Waiter more = side.waiter(world::Port::arrival, 1);
    while (true) {
      side.wait(more);
      if (!side.fabric().front(more, 0)) return;
      side.fabric().pop(more);
      exchange_once(side, data, slice);
    }
  });
  std::vector<float> data(count);
  world::Waiter more = pair.side().waiter(world::Port::staged, 1);
  const auto turn = [&] {
    pair.side().write(more, {});
    exchange_once(pair.side(), data, slice);
  };
  turn();
  for (auto _ : state) turn();
  state.SetBytesProcessed(state.iterations() * state.range(0));
  std::byte end{};
  pair.side().write(more, {&end, 1});
}
BENCHMARK(exchange)
    ->ArgNames({"bytes", "mode", "slice"})
    ->ArgsProduct({{1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26},
                   {kDirect, kStaged, kNear},
                   {1 << 16, 1 << 17, 1 << 18}})
    ->UseRealTime();

// What two processes can do that know each other's addresses: read half, add, read the sum.
struct Bare {
  std::atomic<std::uint64_t> turn[2][16];
  std::atomic<bool> is_pinned;
};

void bare_exchange(benchmark::State& state) {
  const auto bytes = static_cast<std::uint64_t>(state.range(0));
  const std::uint64_t half = bytes / 2;
  const auto slice = static_cast<std::uint64_t>(state.range(1));
  auto* const shared = static_cast<Bare*>(
      ::mmap(nullptr, sizeof(Bare), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<float> data(bytes / sizeof(float));
  std::vector<std::byte> scratch(slice);
  auto* const base = reinterpret_cast<std::byte*>(data.data());  // the same in the child
  const pid_t parent = ::getpid();
  const auto read = [](pid_t pid, std::byte* to, std::byte* from, std::uint64_t size) {
    iovec here{to, size}, there{from, size};
    CHECK(::process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size), "read");
  };
  const auto meet = [&](unsigned me, std::uint64_t turn) {
    shared->turn[me][0].store(turn, std::memory_order_release);
    while (shared->turn[1 - me][0].load(std::memory_order_acquire) < turn) {
    }
  };
  const auto once = [&](unsigned me, pid_t peer, std::uint64_t& turn) {
    const std::uint64_t mine = me * half;
    meet(me, ++turn);
    for (std::uint64_t at = 0; at < half; at += slice) {
      const std::uint64_t size = std::min(slice, half - at);
      read(peer, scratch.data(), base + mine + at, size);
      add(data.data() + (mine + at) / sizeof(float), scratch.data(), size);
    }
    meet(me, ++turn);
    for (std::uint64_t at = 0; at < half; at += slice)
      read(peer, base + half - mine + at, base + half - mine + at, std::min(slice, half - at));
    meet(me, ++turn);
  };
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 60;
  const pid_t child = ::fork();
  if (child == 0) {
    pin(1);
    shared->is_pinned.store(true);
    for (std::uint64_t turn = 0; shared->turn[0][0].load() < kEnd;) {
      if (shared->turn[0][0].load() > turn) once(1, parent, turn);
    }
    ::_exit(0);
  }
  pin(0);
  while (!shared->is_pinned.load()) ::sched_yield();
  std::uint64_t turn = 0;
  once(0, child, turn);
  for (auto _ : state) once(0, child, turn);
  shared->turn[0][0].store(kEnd);
  ::waitpid(child, nullptr, 0);
  ::munmap(shared, sizeof(Bare));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bare_exchange)
    ->ArgNames({"bytes", "slice"})
    ->ArgsProduct({{1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26},
                   {1 << 16, 1 << 17, 1 << 18}})
    ->UseRealTime();

void bare_copy(benchmark::State& state) {
  std::vector<std::byte> source(static_cast<std::size_t>(state.range(0)), std::byte{1});
  std::vector<std::byte> target(source.size());
  for (auto _ : state) {
    std::memcpy(target.data(), source.data(), source.size());
    benchmark::DoNotOptimize(target.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bare_copy)->ArgName("bytes")->RangeMultiplier(4)->Range(4096, 1 << 20);

void bare_read(benchmark::State& state) {
  std::vector<std::byte> source(static_cast<std::size_t>(state.range(0)), std::byte{1});
  std::vector<std::byte> target(source.size());
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  for (auto _ : state) {
    iovec here{target.data(), target.size()}, there{source.data(), source.size()};
    CHECK(::process_vm_readv(child, &here, 1, &there, 1, 0) > 0, "read");
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bare_read)->ArgName("bytes")->RangeMultiplier(4)->Range(4096, 1 << 20);

}  // namespace
}  // namespace hocket::transport::shm
