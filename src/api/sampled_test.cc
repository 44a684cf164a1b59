// SPDX-License-Identifier: Apache-2.0
// Two thousand collectives drawn at random, through processes: types, ops, counts around every
// border, in place or not or mixed, several communicators. Each is right by definition; all ranks
// get the same bits, and so does the same run once more.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <set>
#include <vector>

#include "api/trial_suite.h"
#include "testing/cases.h"

namespace hocket::api {
namespace {

constexpr int kMostWorld = 8, kMostCases = 2000 / kMostWorld;
constexpr Duration kTogether = seconds(200);                 // of all cases under sanitizers
constexpr std::uint32_t kSlices[] = {128 << 10, 4096, 512};  // of the communicators
constexpr std::size_t kComms = std::size(kSlices);

struct Sample {
  Case c;
  std::size_t comm = 0;
  enum class Where { apart, in_place, mixed } where = Where::apart;
};

std::uint64_t draw_count(Prng& random, const Sample& sample) {
  const auto world = static_cast<std::uint64_t>(sample.c.world);
  const std::uint64_t in_slice = kSlices[sample.comm] / size_of(sample.c.type);
  const std::uint64_t most = (std::uint64_t{3} << 20) / size_of(sample.c.type) / world;
  switch (random.below(8)) {
    case 0:
      return random.below(2);
    case 1:
      return 2 * random.below(60) + 3;
    case 2:
      return in_slice * (1 + random.below(2)) + random.below(3) - 1;
    case 3:
      return world * (1 + random.below(200)) + random.below(3) - 1;
    case 4:
      return random.below(10) == 0 ? random.below(most) : random.below(20'000);
    default:
      return random.below(3'000);
  }
}

Sample draw(int world, int number) {
  Prng random(static_cast<std::uint64_t>(1000 * world + number));
  Sample sample;
  Case& c = sample.c;
  c.world = world;
  // Reductions have the most to them.
  constexpr Collective kDrawn[] = {
      Collective::all_reduce, Collective::all_reduce,     Collective::reduce,
      Collective::reduce,     Collective::reduce_scatter, Collective::reduce_scatter,
      Collective::all_gather, Collective::broadcast,      Collective::alltoall,
      Collective::send_recv,  Collective::barrier};
  c.collective = kDrawn[random.below(std::size(kDrawn))];
  c.type = static_cast<DataType>(random.below(kDataTypes));
  c.op = static_cast<ReduceOp>(random.below(kReduceOps));
  c.root = static_cast<int>(random.below(static_cast<std::uint64_t>(world)));
  c.exact = random.below(2) == 0;
  // A float times the rounded 1 / n is the quotient only where n is a power of two.
  if (c.op == ReduceOp::avg && !std::has_single_bit(static_cast<unsigned>(world))) c.exact = false;
  c.requests = random.below(3) == 0;
  c.seed = random.next() >> 8;
  c.shift = static_cast<std::uint32_t>(random.below(64));
  sample.comm = random.below(kComms);
  sample.where = static_cast<Sample::Where>(random.below(3));
  if (c.collective != Collective::barrier) c.count = draw_count(random, sample);
  return sample;
}

/// What each rank's output was in a run, by case and rank.
using Hashes = std::array<std::array<std::atomic<std::uint64_t>, kMostWorld>, kMostCases>;

/// What the ranks of one run share.
struct Crew {
  int world = 1, cases = 0;
  std::array<hocket_id, kComms> ids;
  Hashes& hashes;
};

void run_rank(const Crew& run, int rank) {
  std::array<std::unique_ptr<Comm>, kComms> comms;
  for (std::size_t i = 0; i < kComms; ++i) {
    hocket_options options = patient_options();
    options.slice_bytes = static_cast<int>(kSlices[i]);
    options.channels = static_cast<int>(1 + i);
    comms[i] = std::make_unique<Comm>(run.world, run.ids[i], rank, options);
  }
  for (int i = 0; i < run.cases && !::testing::Test::HasFailure(); ++i) {
    Sample sample = draw(run.world, i);
    sample.c.in_place = sample.where == Sample::Where::in_place ||
                        (sample.where == Sample::Where::mixed && (rank + i) % 2 == 0);
    run.hashes[static_cast<std::size_t>(i)][static_cast<std::size_t>(rank)] =
        Trial(sample.c, Place{rank, *comms[sample.comm]}).run();
  }
}

bool equal_on_all_ranks(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::all_gather ||
         collective == Collective::broadcast;
}

class SampledTest : public ::testing::TestWithParam<int> {};

TEST_P(SampledTest, IsRightAlikeAndTheSameAgain) {
  const int world = GetParam(), cases = testing::cases(kMostCases);
  testing::Shared<Hashes> first, second;
  for (Hashes* hashes : {&*first, &*second}) {
    const Crew run{world, cases, {new_id(), new_id(), new_id()}, *hashes};
    const Layout layout{.processes = world, .patience = kTogether};
    run_ranks(layout, [&](int rank) { run_rank(run, rank); });
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(cases); ++i) {
    const Case c = draw(world, static_cast<int>(i)).c;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(world); ++rank) {
      EXPECT_EQ((*first)[i][rank].load(), (*second)[i][rank].load())
          << c.text() << ", rank " << rank << ", run again";
      if (!equal_on_all_ranks(c.collective)) continue;
      EXPECT_EQ((*first)[i][rank].load(), (*first)[i][0].load())
          << c.text() << ", rank " << rank << " and rank 0";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, SampledTest, ::testing::Range(1, kMostWorld + 1),
                         ::testing::PrintToStringParamName());

TEST(Samples, CoverEveryCombinationThatMatters) {
  std::set<std::tuple<Collective, DataType, ReduceOp>> reductions;
  std::set<std::pair<Collective, DataType>> copies;
  for (int world = 1; world <= kMostWorld; ++world)
    for (int i = 0; i < kMostCases; ++i) {
      const Case c = draw(world, i).c;
      reductions.insert({c.collective, c.type, c.op});
      copies.insert({c.collective, c.type});
    }
  for (std::size_t type = 0; type < kDataTypes; ++type) {
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter})
      for (std::size_t op = 0; op < kReduceOps; ++op)
        EXPECT_TRUE(reductions.contains(
            {collective, static_cast<DataType>(type), static_cast<ReduceOp>(op)}))
            << name_of(collective) << type << op;
    for (std::size_t i = 0; i < kCollectives; ++i)
      EXPECT_TRUE(copies.contains({static_cast<Collective>(i), static_cast<DataType>(type)}));
  }
}

}  // namespace
}  // namespace hocket::api
