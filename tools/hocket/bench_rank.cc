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
#include "tools/hocket/report.h"

namespace hocket::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Unless told otherwise, a row takes about as long, and no more iterations.
constexpr double kRowSeconds = 0.1, kIterations = 2000;

void must(hocket_result result) {
  if (result != HOCKET_SUCCESS) throw std::runtime_error(hocket_last_error());
}

struct Measured {
  double time_us = 0;  ///< slowest rank, median of iterations
  std::uint64_t wrong = 0;
};

class BenchRank {
 public:
  BenchRank(const BenchRun& run, std::uint32_t rank, BenchShared& shared)
      : run_(run), rank_(rank), shared_(shared) {
    std::uint64_t most = 0;
    for (const BenchCase& c : run.cases) most = std::max(most, c.bytes);
    input_.resize(most);
    output_.resize(most);
  }

  std::uint64_t measure_all() {
    if (rank_ == 0) print_head();
    for (std::size_t i = 0; i < run_.algorithms.size(); ++i) {
      hocket_options options = HOCKET_OPTIONS_INIT;
      options.op_timeout_ms = static_cast<int>(run_.op_timeout_ms);
      options.ranks_per_node = static_cast<int>(run_.ranks_per_node);
      options.channels = run_.channels;
      options.slice_bytes = run_.slice_bytes;
      if (run_.algorithms[i] != "auto") options.algorithm = run_.algorithms[i].c_str();
      must(hocket_comm_create(&comm_, static_cast<int>(run_.ranks), &run_.ids[i],
                              static_cast<int>(rank_), &options));
      for (const BenchCase& c : run_.cases) measure(c, run_.algorithms[i]);
      must(hocket_comm_destroy(comm_));
    }
    if (rank_ == 0 && !run_.json.empty()) report_.write(run_.json);
    return wrong_;
  }

 private:
  struct Memory {
    const std::byte* input;
    std::byte* output;
  };

  std::uint64_t one_rank_bytes(const BenchCase& c) const { return c.count * size_of(c.type); }

  /// Where the op's buffers are; in place they share input_.
  Memory memory(const BenchCase& c, bool in_place) {
    if (!in_place) return {input_.data(), output_.data()};
    const std::uint64_t mine = one_rank_bytes(c) * rank_;
    if (c.collective == Collective::all_gather) return {input_.data() + mine, input_.data()};
    if (c.collective == Collective::reduce_scatter) return {input_.data(), input_.data() + mine};
    return {input_.data(), input_.data()};
  }

  void call(const BenchCase& c, const Memory& m) {
    const auto type = static_cast<hocket_type>(c.type);
    const auto op = static_cast<hocket_op>(c.op);
    const int root = static_cast<int>(c.root);
    switch (c.collective) {
      case Collective::all_reduce:
        return must(hocket_all_reduce(m.input, m.output, c.count, type, op, comm_, nullptr));
      case Collective::all_gather:
        return must(hocket_all_gather(m.input, m.output, c.count, type, comm_, nullptr));
      case Collective::reduce_scatter:
        return must(hocket_reduce_scatter(m.input, m.output, c.count, type, op, comm_, nullptr));
      case Collective::broadcast:
        return must(hocket_broadcast(m.input, m.output, c.count, type, root, comm_, nullptr));
      case Collective::reduce:
        return must(hocket_reduce(m.input, m.output, c.count, type, op, root, comm_, nullptr));
      case Collective::alltoall:
        return must(hocket_alltoall(m.input, m.output, c.count, type, comm_, nullptr));
      case Collective::barrier:
        return must(hocket_barrier(comm_, nullptr));
      case Collective::send_recv:
        return shift(c, m);
    }
  }

  /// Every rank sends to the next one and receives from the one before.
  void shift(const BenchCase& c, const Memory& m) {
    const auto type = static_cast<hocket_type>(c.type);
    const std::uint32_t next = (rank_ + 1) % run_.ranks;
    const std::uint32_t previous = (rank_ + run_.ranks - 1) % run_.ranks;
    must(hocket_group_start());
    must(hocket_send(m.input, c.count, type, static_cast<int>(next), comm_, nullptr));
    must(hocket_recv(m.output, c.count, type, static_cast<int>(previous), comm_, nullptr));
    must(hocket_group_end(nullptr));
  }

  void fill(const BenchCase& c, const Pattern& pattern, bool in_place) {
    const std::uint64_t one = one_rank_bytes(c);
    if (c.collective == Collective::all_gather) {
      const std::uint64_t at = in_place ? one * rank_ : 0;
      return pattern.fill(rank_, 0, std::span(input_).subspan(at, one));
    }
    pattern.fill(rank_, 0, std::span(input_).first(c.bytes));
  }

  std::uint64_t count_wrong(const BenchCase& c, const Pattern& pattern, const Memory& m) const {
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

  void barrier() { must(hocket_barrier(comm_, nullptr)); }

  double timed_call(const BenchCase& c, const Memory& m) {
    const Clock::time_point start = Clock::now();
    call(c, m);
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }

  /// Checks one op on known data, then times others on whatever that left.
  Measured measure(const BenchCase& c, bool in_place) {
    const Memory m = memory(c, in_place);
    shared_.wrong(rank_) = 0;
    if (run_.check) {
      const Pattern pattern(c.type, c.op, run_.ranks);
      fill(c, pattern, in_place);
      if (!in_place) std::fill_n(output_.begin(), c.bytes, std::byte{0xee});
      call(c, m);
      shared_.wrong(rank_) = count_wrong(c, pattern, m);
    }
    barrier();
    shared_.time_us(rank_, 0) = timed_call(c, m);
    barrier();
    if (rank_ == 0) shared_.iterations() = choose_iterations();
    barrier();
    const std::uint32_t iterations = shared_.iterations();
    for (std::uint32_t i = 0; i < iterations; ++i) shared_.time_us(rank_, i) = timed_call(c, m);
    barrier();
    const Measured measured = rank_ == 0 ? summary(iterations) : Measured{};
    barrier();  // nobody writes times before they are read
    return measured;
  }

  std::uint32_t choose_iterations() const {
    if (run_.iterations > 0) return std::min(run_.iterations, BenchShared::kMostIterations);
    double slowest = 0.1;
    for (std::uint32_t r = 0; r < run_.ranks; ++r)
      slowest = std::max(slowest, shared_.time_us(r, 0));
    return static_cast<std::uint32_t>(std::clamp(kRowSeconds * 1e6 / slowest, 3.0, kIterations));
  }

  Measured summary(std::uint32_t iterations) const {
    std::vector<double> slowest(iterations, 0);
    Measured measured;
    for (std::uint32_t r = 0; r < run_.ranks; ++r) {
      measured.wrong += shared_.wrong(r);
      for (std::uint32_t i = 0; i < iterations; ++i)
        slowest[i] = std::max(slowest[i], shared_.time_us(r, i));
    }
    const auto middle = slowest.begin() + iterations / 2;
    std::nth_element(slowest.begin(), middle, slowest.end());
    measured.time_us = *middle;
    return measured;
  }

  void measure(const BenchCase& c, const std::string& wanted) {
    const std::string algorithm = chosen(c);
    const bool has_wanted = wanted == "auto" || algorithm == wanted;
    if (!has_wanted) return;  // this collective has no such algorithm: the same on all ranks
    const Measured apart = measure(c, false);
    const bool can_be_in_place =
        c.collective != Collective::alltoall && c.collective != Collective::send_recv;
    const Measured in_place = can_be_in_place ? measure(c, true) : Measured{};
    if (rank_ != 0) return;
    print_row(c, algorithm, apart, can_be_in_place ? &in_place : nullptr);
    add_row(c, algorithm, apart, false);
    if (can_be_in_place) add_row(c, algorithm, in_place, true);
    wrong_ += apart.wrong + in_place.wrong;
  }

  /// The algorithm's name leads what explain says.
  std::string chosen(const BenchCase& c) {
    char text[256];
    must(hocket_explain(comm_, static_cast<hocket_collective>(c.collective), c.count,
                        static_cast<hocket_type>(c.type), static_cast<hocket_op>(c.op), text,
                        sizeof text, nullptr));
    const std::string all = text;
    return all.substr(0, all.find(':'));
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

  void print_row(const BenchCase& c, const std::string& algorithm, const Measured& apart,
                 const Measured* in_place) const {
    const auto figures = [&](const Measured& m) {
      return fmt::format("{:10.2f} {:7.2f} {:7.2f} {:6}", m.time_us, algorithm_bandwidth(c, m),
                         bus_bandwidth(c, m), run_.check ? std::to_string(m.wrong) : "N/A");
    };
    fmt::print("  {:14} {:10} {:10} {:>8} {:>5} {:5} | {} | {} | {}\n", name_of(c.collective),
               c.bytes, c.count, name_of(c.type), name_of(c.op), c.root, figures(apart),
               in_place ? figures(*in_place) : fmt::format("{:>33}", "-"), algorithm);
    std::fflush(stdout);
  }

  void add_row(const BenchCase& c, const std::string& algorithm, const Measured& m, bool in_place) {
    const std::uint32_t per_node = run_.ranks_per_node ? run_.ranks_per_node : run_.ranks;
    report_.add({{"collective", name_of(c.collective)},
                 {"bytes", c.bytes},
                 {"count", c.count},
                 {"type", name_of(c.type)},
                 {"op", name_of(c.op)},
                 {"root", c.root},
                 {"algorithm", algorithm},
                 {"ranks", run_.ranks},
                 {"nodes", (run_.ranks + per_node - 1) / per_node},
                 {"memory", "host"},
                 {"in_place", in_place},
                 {"time_us", m.time_us},
                 {"algbw_gbs", algorithm_bandwidth(c, m)},
                 {"busbw_gbs", bus_bandwidth(c, m)},
                 {"wrong", m.wrong}});
  }

  const BenchRun& run_;
  const std::uint32_t rank_;
  BenchShared& shared_;
  Report report_;
  hocket_comm* comm_ = nullptr;
  std::vector<std::byte> input_, output_;
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
