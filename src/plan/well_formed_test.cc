// SPDX-License-Identifier: Apache-2.0
#include "plan/well_formed.h"

#include <gtest/gtest.h>

namespace hocket::proof {
namespace {

// A world of 4, blocks one a rank. Rank 1 sends blocks 3 and 0 to rank 2, which land, and adds
// blocks 1 and 2 that arrive from rank 0.
class WellFormed : public ::testing::Test {
 protected:
  WellFormed() : topology_(1, 4) {
    row_.scratch = true;
    plan_.algorithm = &row_;
    plan_.topology = &topology_;
    plan_.shape = {4, 3};
    x_.to = Rank{2};
    x_.from = Rank{0};
    x_.out = {3, 2, 0, 4, Buffer::input};
    x_.lands = 3;
    x_.in = {1, 2, 0, 4, Buffer::output};
    x_.fold = Fold::input;
  }
  std::string wrong(std::uint32_t k = 2) {
    const char* what = ill_formed(plan_, {topology_, plan_.request, Rank{1}, {}}, k, x_);
    return what == nullptr ? "" : what;
  }
  std::string disagree(const Exchange& sent, const Exchange& received) {
    const char* what = disagreement(plan_, sent, received);
    return what == nullptr ? "" : what;
  }
  void make_local() {
    x_.to = x_.from = Rank{1};
    x_.in.first = 3;
  }

  Topology topology_;
  Algorithm row_{.fits = [](const Topology&) { return true; },
                 .shape = [](const Topology&) { return Shape{4, 3}; },
                 .round = [](const At&, std::uint32_t) { return Exchange(); },
                 .depth = [](const Topology&) { return 1u; }};
  Plan plan_;
  Exchange x_;
};

TEST_F(WellFormed, AnExchangeThatMakesSense) { EXPECT_EQ(wrong(), ""); }

TEST_F(WellFormed, RanksAreOfTheWorld) {
  x_.to = Rank{4};
  EXPECT_EQ(wrong(), "names a rank outside the world");
}
TEST_F(WellFormed, LocalStepsHaveTwoHalves) {
  x_.from = Rank{1};
  EXPECT_EQ(wrong(), "half a local step");
}
TEST_F(WellFormed, SendsWaitForEarlierRounds) {
  x_.after = 2;
  EXPECT_EQ(wrong(2), "");
  EXPECT_EQ(wrong(1), "waits for its own round or a later one");
}
TEST_F(WellFormed, ScratchIsClaimed) {
  x_.fold = Fold::scratch;
  EXPECT_EQ(wrong(), "");
  row_.scratch = false;
  EXPECT_EQ(wrong(), "uses scratch that the row does not claim");
}
TEST_F(WellFormed, RangesAreOfTheBlockSpace) {
  x_.out.base = 1;
  EXPECT_EQ(wrong(), "sends blocks outside the block space");
  x_.out.base = 0;
  x_.in.first = 4;
  EXPECT_EQ(wrong(), "receives blocks outside the block space");
  x_.in = {1, 5, 0, 4, Buffer::output};
  EXPECT_EQ(wrong(), "receives blocks outside the block space");
}
TEST_F(WellFormed, LandingsOfSeveralBlocksKeepTheirPlace) {
  x_.lands = 2;
  EXPECT_EQ(wrong(), "lands at positions other than its own");
  x_.lands = 4;
  EXPECT_EQ(wrong(), "lands outside the block space");
}
TEST_F(WellFormed, ASingleBlockMayLandElsewhereWhereAllAreEquallyLong) {
  x_.out.count = 1;
  x_.lands = 2;
  EXPECT_EQ(wrong(), "lands at positions other than its own");
  plan_.request.collective = Collective::alltoall;
  EXPECT_EQ(wrong(), "");
}
TEST_F(WellFormed, SignalsAreStaged) {
  x_.out.count = 0;
  EXPECT_EQ(wrong(), "a signal has to be staged");
  x_.staged = true;
  EXPECT_EQ(wrong(), "");
}
TEST_F(WellFormed, TheInputIsNotWritten) {
  x_.in.buffer = Buffer::input;
  EXPECT_EQ(wrong(), "writes to the input");
}
TEST_F(WellFormed, BuffersHoldWhatTheCollectiveSays) {
  plan_.request.collective = Collective::all_gather;
  EXPECT_EQ(wrong(), "sends blocks that its buffer does not hold");
  plan_.request.collective = Collective::reduce_scatter;
  EXPECT_EQ(wrong(), "receives blocks that its buffer does not hold");
  x_.in = {1, 1, 0, 4, Buffer::output};
  EXPECT_EQ(wrong(), "");
  plan_.request.collective = Collective::broadcast;
  x_.out.buffer = Buffer::output;
  EXPECT_EQ(wrong(), "adds to blocks that its buffer does not hold");
  plan_.request.root = Rank{1};
  EXPECT_EQ(wrong(), "");
  plan_.request.collective = Collective::reduce;
  EXPECT_EQ(wrong(), "");
  plan_.request.root = Rank{0};
  EXPECT_EQ(wrong(), "sends blocks that its buffer does not hold");
}
TEST_F(WellFormed, OnlyArrivalsAreFolded) {
  x_.from = kNobody;
  EXPECT_EQ(wrong(), "folds what does not arrive");
}
TEST_F(WellFormed, LocalStepsKeepSizesAndPlaces) {
  make_local();
  EXPECT_EQ(wrong(), "");
  x_.in.first = 2;
  EXPECT_EQ(wrong(), "a local step of two sizes");
  plan_.request.collective = Collective::alltoall;
  x_.out.count = x_.in.count = 1;
  EXPECT_EQ(wrong(), "");
  plan_.request.in_place = true;
  EXPECT_EQ(wrong(), "a local step moves blocks within a buffer");
}

TEST_F(WellFormed, EndsAgree) {
  Exchange sent = x_, received;
  received.from = Rank{1};
  received.in = {3, 2, 0, 4, Buffer::output};
  EXPECT_EQ(disagree(sent, received), "");
  received.in.count = 1;
  EXPECT_EQ(disagree(sent, received), "the two ends disagree on the number of blocks");
  received.in = {2, 2, 0, 4, Buffer::output};
  EXPECT_EQ(disagree(sent, received), "the two ends name different blocks");
  received.in = {3, 2, 0, 4, Buffer::scratch};
  EXPECT_EQ(disagree(sent, received), "the two ends disagree on the landing");
  received.fold = Fold::input;
  EXPECT_EQ(disagree(sent, received), "the receiver folds what lands");
  sent.staged = true;
  EXPECT_EQ(disagree(sent, received), "");
}

TEST_F(WellFormed, EndsOfASingleBlockAgreeOnItsLanding) {
  plan_.request.collective = Collective::alltoall;
  Exchange sent = x_, received;
  sent.out.count = 1;
  sent.lands = 1;
  received.in = {1, 1, 0, 4, Buffer::output};
  EXPECT_EQ(disagree(sent, received), "");
  received.in.first = 3;
  EXPECT_EQ(disagree(sent, received), "the two ends disagree on the landing");
  plan_.request.collective = Collective::all_reduce;
  sent.staged = true;
  received.in.first = 2;
  EXPECT_EQ(disagree(sent, received), "the two ends name different blocks");
}

}  // namespace
}  // namespace hocket::proof
