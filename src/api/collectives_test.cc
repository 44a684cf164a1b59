// SPDX-License-Identifier: Apache-2.0
// Every collective through the C interface: worlds of one to eight ranks, as processes and as
// threads, every algorithm, small slices, several channels, and what the environment takes away.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "algo/table.h"
#include "api/trial_suite.h"
#include "testing/cases.h"

namespace hocket::api {
namespace {

const std::vector<std::uint64_t> kCounts = {0, 1, 7, 1000, 33'333};

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}

/// One of each, in place and not, with every root.
void run_each(const Place& place, int world, const std::vector<std::uint64_t>& counts) {
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < kCollectives; ++i)
    for (const std::uint64_t count : counts)
      for (const bool in_place : {false, true})
        for (int root = 0; root < world; ++root) {
          Case c;
          c.world = world;
          c.collective = static_cast<Collective>(i);
          c.count = count;
          c.in_place = in_place;
          c.root = root;
          c.seed = ++seed;
          c.type = seed % 2 == 0 ? DataType::float32 : DataType::int64;
          c.op = seed % 3 == 0 ? ReduceOp::avg : ReduceOp::sum;
          c.requests = seed % 5 == 0;
          if (count > 1000 && root != 1 % world) continue;
          Trial(c, place).run();
        }
}

void run_each(const Layout& layout, const hocket_options& options,
              const std::vector<std::uint64_t>& counts = kCounts) {
  run_comms(layout, options, [&](int rank, hocket_comm* comm) {
    run_each(Place{rank, comm}, layout.world(), counts);
  });
}

TEST(Collectives, InAWorldOfOne) {
  run_comms({.processes = 1},
            [](int rank, hocket_comm* comm) { run_each(Place{rank, comm}, 1, kCounts); });
}

TEST(Collectives, EveryTypeAndOp) {
  run_comms({.processes = 2, .threads = 2}, [](int rank, hocket_comm* comm) {
    Case c;
    c.world = 4;
    c.root = 2;
    for (std::size_t i = 0; i < kCollectives; ++i)
      for (std::size_t type = 0; type < kDataTypes; ++type)
        for (std::size_t op = 0; op < kReduceOps; ++op)
          for (const bool exact : {true, false}) {
            c.collective = static_cast<Collective>(i);
            c.type = static_cast<DataType>(type);
            c.op = static_cast<ReduceOp>(op);
            c.exact = exact;
            c.count = 129 + type;
            c.in_place = op % 2 == 0;
            ++c.seed;
            if (op == 0 || reduces(c.collective)) Trial(c, Place{rank, comm}).run();
          }
  });
}

TEST(Collectives, RanksAsProcesses) {
  for (const int world : {2, 3, 5, 8}) run_each({.processes = world}, patient_options());
}

TEST(Collectives, RanksAsThreads) {
  for (const int world : {2, 3, 8}) run_each({.threads = world}, patient_options());
}

TEST(Collectives, RanksAsBoth) {
  run_each({.processes = 2, .threads = 3}, patient_options());
  run_each({.processes = 3, .threads = 2}, patient_options());
}

TEST(Collectives, SomeRanksInPlaceAndOthersNot) {
  run_comms({.processes = 2, .threads = 2}, [](int rank, hocket_comm* comm) {
    Case c;
    c.world = 4;
    for (std::size_t i = 0; i < kCollectives; ++i)
      for (std::uint64_t power = 0; power < 19; ++power) {
        c.collective = static_cast<Collective>(i);
        c.count = std::uint64_t{1} << power;
        c.in_place = (rank + static_cast<int>(power)) % 2 == 0;
        c.root = static_cast<int>(power % 4);
        c.op = power % 5 == 0 ? ReduceOp::avg : ReduceOp::sum;
        ++c.seed;
        Trial(c, Place{rank, comm}).run();
      }
  });
}

// ---- algorithms --------------------------------------------------------------------------------

std::set<std::string> names() {
  std::set<std::string> all;
  for (std::size_t i = 0; i < kCollectives; ++i)
    for (const Algorithm& algorithm : algo::algorithms(static_cast<Collective>(i)))
      all.insert(algorithm.name);
  return all;
}

std::string first_line(hocket_comm* comm, Collective collective, std::size_t count) {
  char text[200] = {};
  EXPECT_OK(hocket_explain(comm, static_cast<hocket_collective>(collective), count, HOCKET_FLOAT32,
                           HOCKET_SUM, text, sizeof text, nullptr));
  return std::string(text).substr(0, std::string(text).find('\n'));
}

/// With `name` wherever it exists and fits.
void run_algorithm(const std::string& name, int rank, hocket_comm* comm, const Topology& topology) {
  Case c;
  c.world = static_cast<int>(topology.world());
  for (std::size_t i = 0; i < kCollectives; ++i) {
    c.collective = static_cast<Collective>(i);
    const Algorithm* const algorithm = algo::find(c.collective, name);
    if (algorithm == nullptr) continue;
    if (algorithm->fits(topology)) {
      EXPECT_EQ(first_line(comm, c.collective, 1000).substr(0, name.size() + 2), name + ": ");
    }
    for (const std::uint64_t count : {0u, 1u, 5u, 777u, 20'011u})
      for (const bool in_place : {false, true}) {
        c.count = count;
        c.in_place = in_place;
        c.root = (c.world - 1) / 2;
        c.op = count % 2 == 0 ? ReduceOp::max : ReduceOp::sum;
        ++c.seed;
        Trial(c, Place{rank, comm}).run();
      }
  }
}

void run_algorithms(int world, int ranks_per_node) {
  std::vector<std::pair<std::string, hocket_id>> ids;
  for (const std::string& name : names()) ids.emplace_back(name, new_id());
  const int nodes = ranks_per_node > 0 ? world / ranks_per_node : 1;
  const Topology topology(static_cast<std::uint32_t>(nodes),
                          static_cast<std::uint32_t>(world / nodes));
  run_ranks({.processes = world > 1 ? 2 : 1, .threads = (world + 1) / 2}, [&](int rank) {
    if (rank >= world) return;  // of an odd world
    for (const auto& [name, id] : ids) {
      hocket_options options = patient_options();
      options.algorithm = name.c_str();
      options.ranks_per_node = ranks_per_node;
      Comm comm(world, id, rank, options);
      run_algorithm(name, rank, comm, topology);
    }
  });
}

TEST(Algorithms, EveryOneInEveryWorld) {
  EXPECT_GE(names().size(), 6u + 9u);
  const int step = testing::cases(3) == 3 ? 1 : 3;  // under sanitizers a world of 1, 4 and 7
  for (int world = 1; world <= 8; world += step) run_algorithms(world, 0);
}

TEST(Algorithms, OfTwoLevels) {
  run_algorithms(4, 2);
  run_algorithms(6, 2);
  run_algorithms(6, 3);
  run_algorithms(8, 4);
}

TEST(Algorithms, UnevenNodesTakeWhatFits) {
  hocket_options options = patient_options();
  options.ranks_per_node = 3;
  run_each({.processes = 5}, options, {1, 1000});
}

// ---- options and environment -------------------------------------------------------------------

TEST(Options, TheSmallestSlices) {
  hocket_options options = patient_options();
  options.slice_bytes = 64;
  run_each({.processes = 3}, options, {0, 1, 15, 16, 17, 1000});
  options.channels = 3;
  options.algorithm = "ring";
  run_each({.threads = 3}, options, {0, 1, 47, 48, 49, 1000});
}

TEST(Options, OneToFourChannels) {
  for (int channels = 1; channels <= 4; ++channels) {
    hocket_options options = patient_options();
    options.channels = channels;
    options.slice_bytes = 4096;
    run_each({.processes = 3}, options, {1, 1000, 50'000});
  }
}

TEST(Environment, OneCredit) {
  run_each({.processes = 3, .environment = {{"HOCKET_SHM_CREDITS", "1"}}}, patient_options());
}

TEST(Environment, WithoutCrossMemoryAttach) {
  run_each({.processes = 3, .environment = {{"HOCKET_SHM_CMA", "0"}}}, patient_options());
}

TEST(Environment, OneCreditWithoutCrossMemoryAttach) {
  hocket_options options = patient_options();
  options.slice_bytes = 4096;
  run_each({.processes = 2,
            .threads = 2,
            .environment = {{"HOCKET_SHM_CREDITS", "1"}, {"HOCKET_SHM_CMA", "0"}}},
           options);
}

TEST(Environment, AddressesOfSmallMessagesToo) {
  run_each({.processes = 3, .environment = {{"HOCKET_SHM_STAGED_BYTES", "64"}}}, patient_options());
}

}  // namespace
}  // namespace hocket::api
