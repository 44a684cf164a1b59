// SPDX-License-Identifier: Apache-2.0
// device_kernels [DRAWS [SEED]]: every kernel on real GPUs. The ranks of a domain, 2 to 8, are
// shared out among all that the driver shows (CUDA_VISIBLE_DEVICES), rank by rank; each row of
// world/swap.h's table is run with each type and reduction, at odd sizes, odd addresses, in place
// or not, eager and replayed from a graph, and compared byte for byte with what the CPU's folds
// make of the same bits. Then kernels that have to give up; then times.
//
// Back of the envelope: on one GPU a packet's trip is a store and a load through the second-level
// cache, some 0.8 us, and a graph starts a kernel every 1.0 us or so; so 8 bytes take about 2 us
// with the peer's skew. 4 MiB staged write and read 8 MiB a rank, 4 times that in all, which is 10
// us at the cache's 3.3 TB/s. Between two GPUs a trip is 1.4 us, 8 bytes take about 3 us; 8 MiB
// cross the link once, at its 450 GB/s in 19 us.
//
// Exit status 1 with the case and its seed if anything is wrong; 0 and a line where there is no
// driver or no kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "device/cuda/domain_suite.h"

namespace hocket::cuda {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;  ///< of all parts of a checked op together
constexpr std::uint64_t kMostPacketBytes = 512 << 10, kMostStagedBytes = 8 << 20;  ///< timed
constexpr std::uint32_t kReplays = 3;

class Checks {
 public:
  Checks(const Gpus& gpus, std::uint32_t draws, std::uint64_t seed)
      : gpus_(gpus),
        folds_(cpu::choose_fold_table()),
        oracle_(folds_),
        arena_(gpus, 8, 2 * kMostBytes + 4096),
        draws_(draws),
        random_(seed) {}

  void run(world::Lowering lowering, std::uint32_t world) {
    lowering_ = lowering;
    Ranks ranks(gpus_, {world, kMostBytes / 8, kMostBytes});
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t type = 0; type < kDataTypes; ++type) {
        Op op = {.row = static_cast<Row>(row), .world = world};
        op.type = static_cast<DataType>(type);
        run_ops(ranks, op);
      }
    }
  }
  std::uint64_t done() const { return done_; }

 private:
  void run_ops(Ranks& ranks, Op op) {
    const std::size_t ops = folds(op.row) ? kReduceOps : 1;
    for (std::size_t i = 0; i < ops; ++i) {
      op.op = static_cast<ReduceOp>(i);
      for (std::uint32_t draw = 0; draw < draws_; ++draw) run_draw(ranks, op, draw);
    }
  }

  void run_draw(Ranks& ranks, Op op, std::uint32_t draw) {
    constexpr std::uint64_t kFirst[] = {0, 1, 4097};
    op.count = draw < std::size(kFirst) ? kFirst[draw] : draw_count(op);
    if (op.row == Row::barrier) op.count = 0;
    op.root = static_cast<std::uint32_t>(random_.below(op.world));
    op.in_place = random_.below(2) == 0;
    const Launch how = draw_launch(op);
    const bool is_graph = random_.below(3) == 0;
    if (!(is_graph ? replay(ranks, op, how) : eager(ranks, op, how))) {
      fail(fmt::format("{}, {}, {}", text(op), text(how), is_graph ? "graph" : "eager"));
    }
    ++done_;
  }

  std::uint64_t draw_count(const Op& op) {
    const std::uint64_t parts = op.sends_parts() || op.gets_parts() ? op.world : 1;
    switch (random_.below(8)) {
      case 0:
        return random_.below(kMostBytes / size_of(op.type) / parts + 1);
      case 1:
      case 2:
        return 8 * random_.below(513);
      case 3:
      case 4:
        return random_.below(70);
      default:
        return random_.below(4097);
    }
  }

  Launch draw_launch(const Op& op) {
    Launch how = {.lowering = lowering_};
    how.blocks = 1 + static_cast<std::uint32_t>(random_.below(gpus_.blocks(op.world)));
    how.threads = 32 << random_.below(5);
    how.signature = static_cast<std::uint32_t>(random_.next());
    how.input_skew = draw_skew();
    how.output_skew = draw_skew();
    return how;
  }
  std::uint32_t draw_skew() {
    const std::uint64_t draw = random_.below(64);
    return draw < 24 ? 0 : static_cast<std::uint32_t>(draw) % 16;
  }

  bool eager(Ranks& ranks, const Op& op, const Launch& how) {
    arena_.place(op, how);
    arena_.fill(random_, op.type);
    for (std::uint32_t rank = 0; rank < op.world; ++rank) {
      ranks.launch(op, how, rank, arena_.device(rank));
    }
    ranks.wait();
    return ranks.is_well() && arena_.is_right(op, oracle_);
  }

  bool replay(Ranks& ranks, const Op& op, const Launch& how) {
    arena_.place(op, how);
    for (std::uint32_t rank = 0; rank < op.world; ++rank) {
      ranks.queue(rank).capture();
      ranks.launch(op, how, rank, arena_.device(rank));
      ranks.queue(rank).end_capture();
    }
    for (std::uint32_t i = 0; i < kReplays; ++i) {
      arena_.fill(random_, op.type);
      for (std::uint32_t rank = 0; rank < op.world; ++rank) ranks.queue(rank).replay();
      ranks.wait();
      if (!ranks.is_well() || !arena_.is_right(op, oracle_)) return false;
    }
    return true;
  }

  const Gpus& gpus_;
  const cpu::FoldTable folds_;
  Oracle oracle_;
  Arena arena_;
  std::uint32_t draws_;
  Prng random_;
  world::Lowering lowering_ = world::Lowering::packet;
  std::uint64_t done_ = 0;
};

/// A kernel ends, says why, and writes nothing, when the ranks call different ops, when it is told
/// to stop, and when its patience is over.
class Failures {
 public:
  Failures(const Gpus& gpus, world::Lowering lowering)
      : ranks_(gpus, {2, 1024, 8192}), arena_(gpus, 2, 1 << 19), how_{.lowering = lowering} {
    how_.blocks = 4;
    arena_.place(op_, how_);
  }

  void run() {
    fresh();
    launch(0, 7);
    launch(1, 8);
    ranks_.wait();
    expect("ranks that call different ops", 0, kernels::Report::mismatch, 8);
    expect("ranks that call different ops", 1, kernels::Report::mismatch, 7);

    fresh();
    launch(0, 7);
    for (int i = 0; i < 10'000; ++i) {
      if (ranks_.queue(0).is_idle()) fail("a kernel did not wait for its peer");
    }
    ranks_.stop();
    ranks_.wait();
    expect("a kernel that is stopped", 0, kernels::Report::aborted, 0);

    fresh();
    ranks_.set_patience(1'000'000);
    launch(1, 7);
    ranks_.wait();
    expect("a kernel whose peer is late", 1, kernels::Report::late, 0);

    // What is queued behind it drains by itself.
    for (int i = 0; i < 1'000; ++i) launch(1, 7);
    ranks_.wait();
    expect("a thousand kernels behind it", 1, kernels::Report::late, 0);
  }

 private:
  void fresh() {
    ranks_.reset();
    ranks_.set_patience(2'000'000'000);
    Prng random(5);
    arena_.fill(random, op_.type);
  }
  void launch(std::uint32_t rank, std::uint32_t signature) {
    how_.signature = signature;
    ranks_.launch(op_, how_, rank, arena_.device(rank));
  }
  void expect(const char* what, std::uint32_t rank, kernels::Report::Code code,
              std::uint32_t seen) {
    const kernels::Report& report = ranks_.report(rank);
    const bool is_right =
        report.code == code && report.peer == 1 - rank && report.lap == 1 && report.seen == seen;
    if (!is_right) {
      fail(fmt::format("{}: rank {} reports code {} peer {} lap {} seen {}", what, rank,
                       report.code, report.peer, report.lap, report.seen));
    }
    if (!arena_.is_as_filled()) fail(fmt::format("{}: rank {} wrote something", what, rank));
  }

  const Op op_ = {.count = 1500};
  Ranks ranks_;
  Arena arena_;
  Launch how_;
};

/// Of one op among many, two ranks, each on its GPU if there are two.
class Times {
 public:
  enum class Way { graph, eager };

  explicit Times(const Gpus& gpus)
      : where_(gpus.size() > 1 ? "two GPUs" : "one GPU"),
        ranks_(gpus, {2, kMostPacketBytes / 8, kMostStagedBytes}),
        arena_(gpus, 2, 2 * kMostStagedBytes + 4096),
        gate_(gpus.of(0)) {}

  /// From 1 MiB on with the bus bandwidth, as nccl-tests defines it.
  void print(world::Lowering lowering, Way way) {
    const bool is_packet = lowering == world::Lowering::packet;
    const std::uint64_t most = is_packet ? kMostPacketBytes : kMostStagedBytes;
    way_ = way;
    fmt::print("\n{}: us an op, two ranks on {}, float32 sum, {}\n{:>10}{:>10}", name_of(lowering),
               where_, way == Way::graph ? "in a graph" : "eager", "bytes", "grid");
    for (std::size_t row = 0; row < kRows; ++row) {
      fmt::print("{:>21}", name_of(static_cast<Row>(row)));
    }
    fmt::print("\n");
    std::uint64_t bytes = is_packet ? 8 : 256 << 10;
    for (; bytes <= most; bytes *= bytes < 4096 ? 8 : 2) {
      const Launch how = launch(lowering, bytes);
      fmt::print("{:>10}{:>10}", bytes, fmt::format("{}x{}", how.blocks, how.threads));
      for (std::size_t row = 0; row < kRows; ++row) {
        const Op timed = op(static_cast<Row>(row), bytes);
        fmt::print("{:>21}", cell(timed, bytes, median(timed, how)));
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }

 private:
  /// Eager ones wait at the gate in the driver's queue: were it full, the host that is to open the
  /// gate would wait too.
  std::uint32_t ops() const { return way_ == Way::graph ? 200 : 50; }

  /// `bytes` as nccl-tests counts them: of the larger buffer.
  static Op op(Row row, std::uint64_t bytes) {
    Op op = {.row = row, .count = bytes / 4};
    if (op.sends_parts() || op.gets_parts()) op.count /= 2;
    if (row == Row::barrier) op.count = 0;
    return op;
  }
  static Launch launch(world::Lowering lowering, std::uint64_t bytes) {
    if (lowering == world::Lowering::staged) return {lowering, 64, 512};
    const auto blocks = static_cast<std::uint32_t>(bytes / 8 / 256);
    return {lowering, std::clamp(blocks, 1u, 32u), 256};
  }

  static std::string cell(const Op& op, std::uint64_t bytes, double microseconds) {
    if (bytes < 1 << 20 || op.count == 0) return fmt::format("{:.2f}", microseconds);
    const double moved = crossings(op) * static_cast<double>(bytes);
    return fmt::format("{:.2f} ({:.0f} GB/s)", microseconds, moved / microseconds / 1e3);
  }
  /// How often the bytes have to cross the busiest link.
  static double crossings(const Op& op) {
    if (op.row == Row::broadcast || op.row == Row::reduce) return 1;
    const double trips = op.sends_parts() || op.gets_parts() ? 1 : 2;
    return trips * (op.world - 1) / op.world;
  }

  void launch(const Op& op, const Launch& how, std::uint32_t rank) {
    for (std::uint32_t i = 0; i < ops(); ++i) ranks_.launch(op, how, rank, arena_.device(rank));
  }

  double median(const Op& op, const Launch& how) {
    arena_.place(op, how);
    Prng random(3);
    arena_.fill(random, op.type);
    for (std::uint32_t rank = 0; rank < op.world && way_ == Way::graph; ++rank) {
      ranks_.queue(rank).capture();
      launch(op, how, rank);
      ranks_.queue(rank).end_capture();
    }
    std::array<double, 9> times;
    once(op, how);
    for (double& time : times) time = once(op, how) / ops();
    if (!ranks_.is_well()) fail(text(op));
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }

  /// Both ranks leave a gate together.
  double once(const Op& op, const Launch& how) {
    const std::uint32_t turn = *gate_.host() + 1;
    for (std::uint32_t rank = 0; rank < ranks_.world(); ++rank) {
      Queue& queue = ranks_.queue(rank);
      queue.wait_until_equal(gate_.device(), turn);
      queue.start();
      if (way_ == Way::graph) {
        queue.replay();
      } else {
        launch(op, how, rank);
      }
      queue.stop();
    }
    std::atomic_ref(*gate_.host()).store(turn);
    ranks_.wait();
    return std::max(ranks_.queue(0).microseconds(), ranks_.queue(1).microseconds());
  }

  const char* const where_;
  Ranks ranks_;
  Arena arena_;
  Mapped<std::uint32_t> gate_;
  Way way_ = Way::graph;
};

int run(std::uint32_t draws, std::uint64_t seed) {
  const Result<Driver> driver = Driver::open();
  if (!driver) {
    fmt::print("device_kernels: nothing to do, {}\n", driver.error().message());
    return driver.error().code() == Code::unsupported ? 0 : 1;
  }
  if (images().empty()) {
    fmt::print("device_kernels: nothing to do, this build has no kernels\n");
    return 0;
  }
  const Gpus gpus(*driver);
  fmt::print("device_kernels: {} x {}, {} multiprocessors, draws={} seed={}\n", gpus.size(),
             gpus.of(0).name(), gpus.of(0).multiprocessors(), draws, seed);
  Checks checks(gpus, draws, seed);
  constexpr world::Lowering kAll[] = {world::Lowering::packet, world::Lowering::staged};
  for (const world::Lowering lowering : kAll) {
    for (std::uint32_t world = 2; world <= 8; ++world) checks.run(lowering, world);
    fmt::print("{}: {} ops right so far\n", name_of(lowering), checks.done());
    std::fflush(stdout);
    Failures(gpus, lowering).run();
    fmt::print("{}: gives up as it should\n", name_of(lowering));
    std::fflush(stdout);
  }
  Times times(gpus);
  for (const Times::Way way : {Times::Way::graph, Times::Way::eager}) {
    for (const world::Lowering lowering : kAll) times.print(lowering, way);
  }
  return 0;
}

}  // namespace
}  // namespace hocket::cuda

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 0) : otherwise;
  };
  return hocket::cuda::run(static_cast<std::uint32_t>(number(1, 10)), number(2, 1));
}
