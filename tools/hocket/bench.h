// SPDX-License-Identifier: Apache-2.0
// `hocket bench`: starts its own ranks, as processes or threads, and measures collectives through
// the C interface, as a user's program would. Split: the command and its cases (bench.cc), what a
// rank does (bench_rank.cc), where its buffers are (bench_place.h), known data (bench_pattern.h).
// Failure: a rank that fails ends the run with a non-zero exit and its error; every op has a
// deadline.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "hocket/hocket.h"

namespace CLI {
class App;
}

namespace hocket::tools {

void add_bench(CLI::App& app);

struct BenchCase {  ///< one row of the table: out of place and in place
  Collective collective = Collective::all_reduce;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::uint32_t root = 0;
  std::uint64_t count = 0;  ///< as the collective counts (plan/request.h)
  std::uint64_t bytes = 0;  ///< of the whole block space
};

struct BenchCuda {
  bool is_used = false;        ///< ops on streams, on device memory
  std::uint32_t gpus = 0;      ///< that ranks are shared out to; 0: all there are
  std::uint32_t captured = 0;  ///< ops of a graph; 0: none is captured
  std::string peer;            ///< path of a NCCL library that is timed in turn; empty: none
};

struct BenchRun {
  std::uint32_t ranks = 2;
  std::uint32_t ranks_per_node = 0;
  std::vector<std::string> algorithms;  ///< "auto": selected
  std::vector<hocket_id> ids;           ///< one per algorithm
  std::vector<BenchCase> cases;
  std::uint32_t iterations = 0;  ///< 0: as many as fit into a tenth of a second
  std::uint32_t op_timeout_ms = 60'000;
  int channels = 0;
  int slice_bytes = 0;
  bool check = true;
  bool pin = false;
  bool threads = false;  ///< ranks are threads of one process
  BenchCuda cuda;
  std::string json;  ///< empty: none
};

/// Memory that all ranks of a run share for times and agreement on iterations.
class BenchShared {
 public:
  static constexpr std::uint32_t kMostIterations = 100'000;
  explicit BenchShared(std::uint32_t ranks);
  ~BenchShared();
  BenchShared(const BenchShared&) = delete;
  BenchShared& operator=(const BenchShared&) = delete;

  /// Microseconds of one iteration of one rank; written by it, read by rank 0 after a barrier.
  double& time_us(std::uint32_t rank, std::uint32_t iteration);
  std::uint64_t& wrong(std::uint32_t rank);
  std::uint32_t& iterations();

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

/// The life of one rank: returns the process's exit status, 0 when all was right.
int run_bench_rank(const BenchRun& run, std::uint32_t rank, BenchShared& shared);

}  // namespace hocket::tools
