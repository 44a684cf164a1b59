// SPDX-License-Identifier: Apache-2.0
#include "plan/slices.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/prng.h"
#include "testing/cases.h"

namespace hocket {
namespace {

using Walk = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // offset, size

Walk walk(const Plan& plan, std::uint32_t piece, const Range& range) {
  const Piece cut(plan, piece);
  Walk slices;
  for (Slices s(cut, range); s.more(); s.next()) slices.emplace_back(s.offset(), s.size());
  return slices;
}

Plan plan_of(Collective collective, std::uint64_t count, std::uint32_t blocks,
             DataType type = DataType::uint8) {
  Plan plan;
  plan.request.collective = collective;
  plan.request.type = type;
  plan.request.count = count;
  plan.shape.blocks = blocks;
  return plan;
}

TEST(Slices, CutsAStretchIntoSlices) {
  Plan plan = plan_of(Collective::all_reduce, 100, 4);
  plan.slice_bytes = 20;
  EXPECT_EQ(walk(plan, 0, {1, 2, 0, 4}), (Walk{{25, 20}, {45, 20}, {65, 10}}));
}

TEST(Slices, BlocksDifferByOneElementAtMost) {
  const Plan plan = plan_of(Collective::all_reduce, 10, 4, DataType::float32);
  EXPECT_EQ(walk(plan, 0, {0, 1, 0, 4}), (Walk{{0, 12}}));
  EXPECT_EQ(walk(plan, 0, {1, 1, 0, 4}), (Walk{{12, 12}}));
  EXPECT_EQ(walk(plan, 0, {2, 1, 0, 4}), (Walk{{24, 8}}));
  EXPECT_EQ(walk(plan, 0, {3, 1, 0, 4}), (Walk{{32, 8}}));
}

TEST(Slices, WrapsAroundItsCycle) {
  const Plan plan = plan_of(Collective::all_reduce, 80, 8);
  EXPECT_EQ(walk(plan, 0, {3, 3, 2, 4}), (Walk{{50, 10}, {20, 20}}));
  EXPECT_EQ(walk(plan, 0, {0, 4, 2, 4}), (Walk{{20, 40}}));
  EXPECT_EQ(walk(plan, 0, {3, 1, 2, 4}), (Walk{{50, 10}}));
}

TEST(Slices, PiecesAreCutBeforeBlocks) {
  Plan plan = plan_of(Collective::all_reduce, 90, 3);
  plan.pieces = 2;
  EXPECT_EQ(walk(plan, 1, {1, 2, 0, 3}), (Walk{{60, 30}}));
  EXPECT_EQ(walk(plan, 1, {2, 2, 0, 3}), (Walk{{75, 15}, {45, 15}}));
}

TEST(Slices, BlocksOfUsersAreCutInPieces) {
  Plan plan = plan_of(Collective::alltoall, 10, 4);
  EXPECT_EQ(walk(plan, 0, {1, 2, 0, 4}), (Walk{{10, 20}}));
  plan.pieces = 3;  // of 4, 3 and 3 bytes of each block
  EXPECT_EQ(walk(plan, 0, {1, 2, 0, 4}), (Walk{{10, 4}, {20, 4}}));
  EXPECT_EQ(walk(plan, 2, {3, 2, 0, 4}), (Walk{{37, 3}, {7, 3}}));
}

TEST(Slices, NoBlocksIsASignal) {
  const Plan plan = plan_of(Collective::barrier, 0, 1);
  EXPECT_EQ(walk(plan, 0, {}), (Walk{{0, 0}}));
}

TEST(Slices, BlocksLeftEmptyByRoundingAreSkipped) {
  const Plan plan = plan_of(Collective::all_reduce, 2, 4);
  EXPECT_EQ(walk(plan, 0, {2, 2, 0, 4}), Walk{});
  EXPECT_EQ(walk(plan, 0, {3, 2, 0, 4}), (Walk{{0, 1}}));
  EXPECT_EQ(walk(plan, 0, {1, 3, 0, 4}), (Walk{{1, 1}}));
  EXPECT_EQ(walk(plan_of(Collective::all_reduce, 0, 4), 0, {0, 4, 0, 4}), Walk{});
}

TEST(Slices, SlicesHoldWholeElements) {
  Plan plan = plan_of(Collective::all_reduce, 3, 1, DataType::float64);
  plan.slice_bytes = 20;
  EXPECT_EQ(walk(plan, 0, {0, 1}), (Walk{{0, 16}, {16, 8}}));
  plan.slice_bytes = 1;
  EXPECT_EQ(walk(plan, 0, {0, 1}), (Walk{{0, 8}, {8, 8}, {16, 8}}));
}

TEST(Slices, ABufferOfOneBlockBeginsWithIt) {
  Plan gather = plan_of(Collective::all_gather, 10, 4);
  gather.pieces = 2;
  EXPECT_EQ(walk(gather, 1, {3, 1, 0, 4, Buffer::input}), (Walk{{5, 5}}));
  EXPECT_EQ(walk(gather, 1, {3, 1, 0, 4, Buffer::output}), (Walk{{35, 5}}));
  const Plan scatter = plan_of(Collective::reduce_scatter, 10, 4);
  EXPECT_EQ(walk(scatter, 0, {3, 1, 0, 4, Buffer::input}), (Walk{{30, 10}}));
  EXPECT_EQ(walk(scatter, 0, {3, 1, 0, 4, Buffer::output}), (Walk{{0, 10}}));
  EXPECT_EQ(walk(scatter, 0, {3, 1, 0, 4, Buffer::scratch}), (Walk{{30, 10}}));
}

TEST(Slices, NamesTheSameBytesInAnotherBuffer) {
  Plan plan = plan_of(Collective::reduce_scatter, 10, 4);
  plan.slice_bytes = 6;
  const Piece whole(plan, 0);
  Slices s(whole, {3, 1, 0, 4, Buffer::output});
  s.next();
  EXPECT_EQ(s.offset(), 6u);
  EXPECT_EQ(s.offset_in(Buffer::output), 6u);
  EXPECT_EQ(s.offset_in(Buffer::input), 36u);
  EXPECT_EQ(s.offset_in(Buffer::scratch), 36u);
  EXPECT_EQ(Slices(whole, {}).offset_in(Buffer::input), 0u);
}

TEST(Shift, FindsThePeersBytes) {
  Exchange x;
  x.out = {2, 1, 0, 4, Buffer::input};
  x.lands = 1;
  Plan alltoall = plan_of(Collective::alltoall, 10, 4);
  alltoall.pieces = 3;
  const Piece last(alltoall, 2);
  EXPECT_EQ(Slices(last, x.out).offset() + shift(last, x.out, x.landing()), 17u);
  x.lands = 2;
  const Plan gather = plan_of(Collective::all_gather, 10, 4);
  const Piece gathered(gather, 0);
  EXPECT_EQ(Slices(gathered, x.out).offset() + shift(gathered, x.out, x.landing()), 20u);
  const Plan reduce = plan_of(Collective::all_reduce, 10, 4);
  EXPECT_EQ(shift(Piece(reduce, 0), x.out, x.landing()), 0u);
  x.out = {};
  EXPECT_EQ(shift(gathered, x.out, x.landing()), 0u);
}

// Every byte of the block space belongs to one piece and block, and a range of any positions has
// just the bytes of its blocks, in order, no slice across a gap or beyond the limit.
TEST(Slices, AreTheBytesOfTheirBlocks) {
  Prng random(1);
  for (int i = 0; i < testing::cases(2000); ++i) {
    const auto collective = static_cast<Collective>(random.below(6));
    const auto blocks = static_cast<std::uint32_t>(1 + random.below(9));
    Plan plan = plan_of(collective, random.below(60), blocks,
                        random.below(2) == 0 ? DataType::uint8 : DataType::float16);
    plan.pieces = static_cast<std::uint32_t>(1 + random.below(4));
    plan.slice_bytes = static_cast<std::uint32_t>(1 + random.below(40));
    Range range;
    range.base = static_cast<std::uint32_t>(random.below(blocks));
    range.size = static_cast<std::uint32_t>(1 + random.below(blocks - range.base));
    range.first = static_cast<std::uint32_t>(random.below(range.size));
    range.count = static_cast<std::uint32_t>(1 + random.below(range.size));
    range.buffer = Buffer::scratch;
    const auto piece = static_cast<std::uint32_t>(random.below(plan.pieces));

    const Piece cut(plan, piece);
    std::vector<std::uint64_t> expected, seen;
    for (std::uint32_t b = 0; b < range.count; ++b)
      for (std::uint64_t at = cut.begin(range.block(b)); at < cut.end(range.block(b)); ++at)
        expected.push_back(at);
    for (const auto& [offset, size] : walk(plan, piece, range)) {
      EXPECT_GT(size, 0u);
      EXPECT_LE(size, std::max(plan.slice_bytes, size_of(plan.request.type)));
      EXPECT_EQ(size % size_of(plan.request.type), 0u);
      for (std::uint64_t at = offset; at < offset + size; ++at) seen.push_back(at);
    }
    EXPECT_EQ(seen, expected);
  }
}

TEST(Piece, PiecesAndBlocksTileTheBlockSpace) {
  for (const Collective collective : {Collective::all_reduce, Collective::alltoall})
    for (std::uint64_t count = 0; count < 30; ++count)
      for (std::uint32_t pieces = 1; pieces < 5; ++pieces) {
        Plan plan = plan_of(collective, count, 7, DataType::int32);
        plan.pieces = pieces;
        std::vector<int> bytes(plan.request.total_bytes(7), 0);
        for (std::uint32_t p = 0; p < pieces; ++p) {
          const Piece piece(plan, p);
          for (std::uint32_t b = 0; b < 7; ++b)
            for (std::uint64_t at = piece.begin(b); at < piece.end(b); ++at) ++bytes[at];
        }
        EXPECT_EQ(bytes, std::vector<int>(bytes.size(), 1));
      }
}

}  // namespace
}  // namespace hocket
