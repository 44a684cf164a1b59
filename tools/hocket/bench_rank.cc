// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "tools/hocket/bench.h"
#include "tools/hocket/bench_pattern.h"
#include "tools/hocket/bench_place.h"
#include "tools/hocket/report.h"

namespace hocket::tools {
namespace {

// Unless told otherwise, a row takes about as long, and no more iterations.
constexpr double kRowSeconds = 0.1, kIterations = 2000;
constexpr std::chrono::milliseconds kWarmUp{200};
// Beside a peer, as the machine changes its mind: so often each has its turn.
constexpr std::uint32_t kTurns = 5;

struct Measured {
  double time_us = 0;       ///< slowest rank, median of iterations
  double host_us = 0;       ///< of rank 0's own time
  double peer_time_us = 0;  ///< as time_us; 0: there is no peer, or it has no such op
  double ratio() const { return time_us > 0 ? peer_time_us / time_us : 0; }
  std::uint64_t wrong = 0;
};

class BenchRank {
 public:
  BenchRank(const BenchRun& run, std::uint32_t rank, BenchShared& shared)
      : run_(run),
        rank_(rank),
        shared_(shared),
        place_(run.cuda.is_used ? make_cuda_place(run, rank) : make_host_place()) {
    std::uint64_t most = 0;
    for (const BenchCase& c : run.cases) most = std::max(most, c.bytes);
    place_->allocate(most);
  }

  std::uint64_t measure_all() {
    if (rank_ == 0) print_head();
    for (std::size_t i = 0; i < run_.algorithms.size(); ++i) {
      create_comm(i);
      if (i == 0) warm_up();
      for (const BenchCase& c : run_.cases)
        if (calls_->has(c.collective)) measure(c, run_.algorithms[i]);
      must(hocket_comm_destroy(comm_));
    }
    if (rank_ == 0 && !run_.json.empty()) report_.write(run_.json);
    return wrong_;
  }

 private:
  void create_comm(std::size_t algorithm) {
    hocket_options options = HOCKET_OPTIONS_INIT;
    options.op_timeout_ms = static_cast<int>(run_.op_timeout_ms);
    options.ranks_per_node = static_cast<int>(run_.ranks_per_node);
    options.channels = run_.channels;
    options.slice_bytes = run_.slice_bytes;
    options.cuda = run_.cuda.is_used;
    const std::string& name = run_.algorithms[algorithm];
    if (name != "auto") options.algorithm = name.c_str();
    must(hocket_comm_create(&comm_, static_cast<int>(run_.ranks), &run_.ids[algorithm],
                            static_cast<int>(rank_), &options));
    calls_ = run_.cuda.is_used ? make_stream_calls(comm_) : make_host_calls(comm_);
    if (!run_.cuda.peer.empty() && peer_ == nullptr) peer_ = make_nccl_calls(run_.cuda.peer, comm_);
  }

  std::uint64_t one_rank_bytes(const BenchCase& c) const { return c.count * size_of(c.type); }

  /// Where the op's buffers are, if these are the two there are; in place they share the first.
  BenchMemory memory(const BenchCase& c, bool in_place, std::byte* input, std::byte* output) const {
    if (!in_place) return {input, output};
    const std::uint64_t mine = one_rank_bytes(c) * rank_;
    if (c.collective == Collective::all_gather) return {input + mine, input};
    if (c.collective == Collective::reduce_scatter) return {input, input + mine};
    return {input, input};
  }

  void fill(const BenchCase& c, const Pattern& pattern, bool in_place) {
    const std::uint64_t one = one_rank_bytes(c);
    if (c.collective == Collective::all_gather) {
      const std::uint64_t at = in_place ? one * rank_ : 0;
      return pattern.fill(rank_, 0, std::span(place_->input_image()).subspan(at, one));
    }
    pattern.fill(rank_, 0, std::span(place_->input_image()).first(c.bytes));
  }

  std::uint64_t count_wrong(const BenchCase& c, const Pattern& pattern,
                            const BenchMemory& m) const {
    const std::uint64_t one = one_rank_bytes(c);
    std::uint64_t wrong = 0;
    switch (c.collective) {
      case Collective::all_reduce:
        return pattern.wrong_reduction(0, {m.output, one});
      case Collective::reduce:
        return rank_ == c.root ? pattern.wrong_reduction(0, {m.output, one}) : 0;
      case Collective::reduce_scatter:
        return pattern.wrong_reduction(c.count * rank_, {m.output, one});
      case Collective::broadcast:
        return pattern.wrong_input(c.root, 0, {m.output, one});
      case Collective::all_gather:
        for (std::uint32_t r = 0; r < run_.ranks; ++r)
          wrong += pattern.wrong_input(r, 0, {m.output + one * r, one});
        return wrong;
      case Collective::alltoall:
        for (std::uint32_t r = 0; r < run_.ranks; ++r)
          wrong += pattern.wrong_input(r, c.count * rank_, {m.output + one * r, one});
        return wrong;
      case Collective::send_recv:
        return pattern.wrong_input((rank_ + run_.ranks - 1) % run_.ranks, 0, {m.output, one});
      case Collective::barrier:
        break;
    }
    return 0;
  }

  /// The scheduler takes a while to give each rank a core of its own.
  void warm_up() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + kWarmUp;
    do {
      barrier();
      if (rank_ == 0) shared_.iterations() = Clock::now() < end ? 1 : 0;
      barrier();
    } while (shared_.iterations() != 0);
    barrier();
  }

  void barrier() { must(hocket_barrier(comm_, nullptr)); }

  /// One op on known data; elements that are wrong then.
  std::uint64_t check(const BenchCase& c, bool in_place, const BenchMemory& m) {
    const Pattern pattern(c.type, c.op, run_.ranks);
    std::vector<std::byte>&input = place_->input_image(), &output = place_->output_image();
    fill(c, pattern, in_place);
    if (!in_place) std::fill_n(output.begin(), c.bytes, std::byte{0xee});
    place_->push(c.bytes);
    place_->run(*calls_, c, m);
    place_->pull(c.bytes);
    return count_wrong(c, pattern, memory(c, in_place, input.data(), output.data()));
  }

  /// This rank's samples of a measurement.
  std::span<double> samples(std::uint32_t first, std::uint32_t count) {
    return {&shared_.time_us(rank_, first), count};
  }

  /// `turn` of kTurns. The peer's samples begin where Hocket's end.
  void time_turn(const BenchCase& c, const BenchMemory& m, std::uint32_t turn) {
    const std::uint32_t all = shared_.iterations();
    const std::uint32_t first = all * turn / kTurns, end = all * (turn + 1) / kTurns;
    place_->time(*calls_, c, m, samples(first, end - first));
    host_us_ = place_->host_us();
    barrier();
    place_->time(*peer_, c, m, samples(all + first, end - first));
    barrier();
  }

  /// Checks one op, then times others on whatever that left.
  Measured measure(const BenchCase& c, bool in_place) {
    const BenchMemory m = memory(c, in_place, place_->input(), place_->output());
    shared_.wrong(rank_) = run_.check ? check(c, in_place, m) : 0;
    barrier();
    const bool has_peer = peer_ != nullptr && peer_->has(c.collective);
    if (has_peer) place_->time(*peer_, c, m, samples(0, 1));
    barrier();
    place_->time(*calls_, c, m, samples(0, 1));
    barrier();
    if (rank_ == 0) shared_.iterations() = choose_iterations();
    barrier();
    if (has_peer) {
      for (std::uint32_t turn = 0; turn < kTurns; ++turn) time_turn(c, m, turn);
    } else {
      place_->time(*calls_, c, m, samples(0, shared_.iterations()));
      host_us_ = place_->host_us();
      barrier();
    }
    const Measured measured = rank_ == 0 ? summary(has_peer) : Measured{};
    barrier();  // nobody writes times before they are read
    return measured;
  }

  std::uint32_t choose_iterations() const {
    const std::uint32_t most = BenchShared::kMostIterations / (peer_ == nullptr ? 1 : 2);
    if (run_.iterations > 0) return std::min(run_.iterations, most);
    double slowest = 0.1;
    for (std::uint32_t r = 0; r < run_.ranks; ++r)
      slowest = std::max(slowest, shared_.time_us(r, 0));
    const double least = peer_ == nullptr ? 3 : kTurns;
    return static_cast<std::uint32_t>(std::clamp(kRowSeconds * 1e6 / slowest, least, kIterations));
  }

  Measured summary(bool has_peer) const {
    const std::uint32_t iterations = shared_.iterations();
    Measured measured;
    for (std::uint32_t r = 0; r < run_.ranks; ++r) measured.wrong += shared_.wrong(r);
    measured.time_us = slowest_rank(0, iterations);
    measured.host_us = host_us_;
    if (has_peer) measured.peer_time_us = slowest_rank(iterations, iterations);
    return measured;
  }

  /// The median of these samples, each of which is the slowest rank's.
  double slowest_rank(std::uint32_t first, std::uint32_t count) const {
    std::vector<double> slowest(count, 0);
    for (std::uint32_t r = 0; r < run_.ranks; ++r)
      for (std::uint32_t i = 0; i < count; ++i)
        slowest[i] = std::max(slowest[i], shared_.time_us(r, first + i));
    const auto middle = slowest.begin() + count / 2;
    std::nth_element(slowest.begin(), middle, slowest.end());
    return *middle;
  }

  void measure(const BenchCase& c, const std::string& wanted) {
    const Chosen chosen = this->chosen(c);
    const bool has_wanted = wanted == "auto" || chosen.algorithm == wanted;
    if (!has_wanted) return;  // this collective has no such algorithm: the same on all ranks
    const Measured apart = measure(c, false);
    const bool can_be_in_place =
        c.collective != Collective::alltoall && c.collective != Collective::send_recv;
    const Measured in_place = can_be_in_place ? measure(c, true) : Measured{};
    if (rank_ != 0) return;
    print_row(c, chosen, apart, can_be_in_place ? &in_place : nullptr);
    add_row(c, chosen, apart, false);
    if (can_be_in_place) add_row(c, chosen, in_place, true);
    wrong_ += apart.wrong + in_place.wrong;
  }

  struct Chosen {
    std::string algorithm, lowering;  ///< none on host memory
  };
  /// What explain says first: "ring: ...", or "one_shot by packet: ...".
  Chosen chosen(const BenchCase& c) {
    const std::string all = calls_->explain(c);
    Chosen chosen{all.substr(0, all.find(':')), ""};
    const std::size_t by = chosen.algorithm.find(" by ");
    if (by == chosen.algorithm.npos) return chosen;
    chosen.lowering = chosen.algorithm.substr(by + 4);
    chosen.algorithm.resize(by);
    return chosen;
  }

  double algorithm_bandwidth(const BenchCase& c, const Measured& m) const {
    return m.time_us > 0 ? static_cast<double>(c.bytes) / m.time_us / 1e3 : 0;
  }

  double bus_bandwidth(const BenchCase& c, const Measured& m) const {
    return algorithm_bandwidth(c, m) * bus_factor(c.collective, run_.ranks);
  }

  void print_head() const {
    fmt::print("# {}\n# {} ranks\n", machine(), run_.ranks);
    fmt::print(
        "# {:14} {:>10} {:>10} {:>8} {:>5} {:>5} | {:>10} {:>7} {:>7} {:>6} | {:>10} "
        "{:>7} {:>7} {:>6} | {}\n",
        "collective", "size B", "count", "type", "redop", "root", "time us", "algbw", "busbw",
        "#wrong", "in place", "algbw", "busbw", "#wrong", "algorithm");
  }

  void print_row(const BenchCase& c, const Chosen& chosen, const Measured& apart,
                 const Measured* in_place) const {
    const auto figures = [&](const Measured& m) {
      return fmt::format("{:10.2f} {:7.2f} {:7.2f} {:6}", m.time_us, algorithm_bandwidth(c, m),
                         bus_bandwidth(c, m), run_.check ? std::to_string(m.wrong) : "N/A");
    };
    fmt::print("  {:14} {:10} {:10} {:>8} {:>5} {:5} | {} | {} | {}{}{}{}\n", name_of(c.collective),
               c.bytes, c.count, name_of(c.type), name_of(c.op), c.root, figures(apart),
               in_place ? figures(*in_place) : fmt::format("{:>33}", "-"), chosen.algorithm,
               chosen.lowering.empty() ? "" : " " + chosen.lowering, beside(apart, "peer"),
               in_place ? beside(*in_place, "in place") : "");
    std::fflush(stdout);
  }

  static std::string beside(const Measured& m, const char* whose) {
    if (m.peer_time_us == 0) return "";
    return fmt::format(" | {} {:.2f} us x{:.2f}", whose, m.peer_time_us, m.ratio());
  }

  void add_row(const BenchCase& c, const Chosen& chosen, const Measured& m, bool in_place) {
    const std::uint32_t per_node = run_.ranks_per_node ? run_.ranks_per_node : run_.ranks;
    report_.add({{"collective", name_of(c.collective)},
                 {"bytes", c.bytes},
                 {"count", c.count},
                 {"type", name_of(c.type)},
                 {"op", name_of(c.op)},
                 {"root", c.root},
                 {"algorithm", chosen.algorithm},
                 {"lowering", chosen.lowering},
                 {"ranks", run_.ranks},
                 {"nodes", (run_.ranks + per_node - 1) / per_node},
                 {"processes", !run_.threads},
                 {"memory", run_.cuda.is_used ? "cuda" : "host"},
                 {"captured", run_.cuda.captured},
                 {"in_place", in_place},
                 {"time_us", m.time_us},
                 {"host_us", m.host_us},
                 {"algbw_gbs", algorithm_bandwidth(c, m)},
                 {"busbw_gbs", bus_bandwidth(c, m)},
                 {"peer_time_us", m.peer_time_us},
                 {"ratio", m.ratio()},
                 {"wrong", m.wrong}});
  }

  const BenchRun& run_;
  const std::uint32_t rank_;
  BenchShared& shared_;
  Report report_;
  hocket_comm* comm_ = nullptr;
  const std::unique_ptr<BenchPlace> place_;
  std::unique_ptr<BenchCalls> calls_, peer_;
  double host_us_ = 0;  ///< of Hocket's last op
  std::uint64_t wrong_ = 0;
};

}  // namespace

int run_bench_rank(const BenchRun& run, std::uint32_t rank, BenchShared& shared) {
  if (run.pin) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(rank % std::max(std::thread::hardware_concurrency(), 1u), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
  }
  try {
    return BenchRank(run, rank, shared).measure_all() == 0 ? 0 : 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hocket bench: {}\n", error.what());
    return 1;
  }
}

}  // namespace hocket::tools
