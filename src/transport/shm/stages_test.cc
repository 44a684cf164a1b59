// SPDX-License-Identifier: Apache-2.0
// Which messages share a stage, and when a stage is filled anew.
#include "transport/shm/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "transport/shm/place.h"
#include "transport/shm/rig_suite.h"

namespace hocket::transport::shm {
namespace {

constexpr Shape kShape{.world = 3, .channels = 1, .credits = 2, .slice_bytes = 4096};

class StagesTest : public ::testing::Test {
 protected:
  /// Where the message of so many bytes of `value` was put that goes into the link's slot.
  std::uint64_t put(Staging& link, std::uint32_t slot, int value, std::uint64_t size = 4096) {
    return offset(link.put(message(value, size), slot));
  }
  /// The same for a repetition of the message before.
  std::uint64_t repeat(Staging& link, std::uint32_t slot, int value, std::uint64_t size = 4096) {
    world::Message again = message(value, size);
    again.repeats = true;
    return offset(link.put(again, slot));
  }
  bool holds(std::uint64_t place, int value, std::uint64_t size = 4096) {
    const std::byte* const bytes = segment().at(place, size);
    return std::all_of(bytes, bytes + size, [&](std::byte b) { return b == std::byte(value); });
  }
  Segment& segment() { return place_.segment(); }

  Rig rig_;
  Place place_ = Place::take(rig_.node, Rank{0}, kShape, Segment::create(kShape).value()).value();
  Stages stages_{place_.segment()};
  Staging first_{stages_}, second_{stages_}, third_{stages_};

 private:
  world::Message message(int value, std::uint64_t size) {
    bytes_.assign(size, static_cast<std::byte>(value));
    return {.source = {bytes_.data(), size}};
  }
  static std::uint64_t offset(Result<std::uint64_t> put) {
    EXPECT_TRUE(put);
    return put ? *put : 0;
  }
  std::vector<std::byte> bytes_;
};

TEST_F(StagesTest, ARepetitionIsWhereTheMessageBeforeIs) {
  const std::uint64_t place = put(first_, 0, 1);
  EXPECT_EQ(repeat(second_, 0, 99), place);
  EXPECT_EQ(repeat(third_, 0, 99), place);
  EXPECT_TRUE(holds(place, 1)) << "it was copied once more";
}

TEST_F(StagesTest, OtherBytesGoElsewhereUntilEveryHolderHasGivenBack) {
  const std::uint64_t place = put(first_, 0, 1);
  EXPECT_EQ(repeat(second_, 0, 1), place);
  first_.give_back(1);
  const std::uint64_t other = put(first_, 1, 2);
  EXPECT_NE(other, place);
  EXPECT_TRUE(holds(place, 1));
  second_.give_back(1);
  first_.give_back(2);
  EXPECT_EQ(put(first_, 0, 3), other) << "given back last, filled first";
  EXPECT_EQ(put(first_, 1, 4), place);
  EXPECT_TRUE(holds(other, 3));
  EXPECT_TRUE(holds(place, 4));
}

TEST_F(StagesTest, WhatADeadPeerHasNotTakenStaysAsItIs) {
  const std::uint64_t place = put(first_, 0, 1);
  EXPECT_EQ(repeat(second_, 0, 1), place);
  for (std::uint32_t i = 1; i < 50; ++i) {
    first_.give_back(i);
    EXPECT_NE(put(first_, i % 2, 2), place);
    EXPECT_NE(repeat(third_, i % 2, 2), place);
    third_.give_back(i);
  }
  EXPECT_TRUE(holds(place, 1));
}

TEST_F(StagesTest, LinksInStepUseOneStage) {
  const std::uint64_t place = put(first_, 0, 1);
  for (std::uint32_t i = 1; i < 10; ++i) {
    first_.give_back(i);
    EXPECT_EQ(put(first_, i % 2, 1), place);
  }
}

TEST_F(StagesTest, WhatAllHaveTakenCanStillBeRepeated) {
  const std::uint64_t place = put(first_, 0, 1);
  first_.give_back(1);
  EXPECT_EQ(repeat(second_, 0, 99), place);
  EXPECT_TRUE(holds(place, 1));
}

TEST_F(StagesTest, WhatWentWithoutAStageIsNotTakenForTheOneBefore) {
  const std::uint64_t place = put(first_, 0, 1);
  first_.pass();
  const std::uint64_t other = repeat(second_, 0, 2);
  EXPECT_NE(other, place);
  EXPECT_TRUE(holds(place, 1));
  EXPECT_TRUE(holds(other, 2));
}

TEST_F(StagesTest, SmallMessagesHaveACellOfTheirOwn) {
  const std::uint64_t cell = put(first_, 0, 1, Segment::kCellBytes);
  EXPECT_EQ(put(first_, 1, 2, 100), cell + Segment::kCellBytes);
  EXPECT_NE(repeat(second_, 0, 2, 100), cell + Segment::kCellBytes);
  EXPECT_TRUE(holds(cell, 1, Segment::kCellBytes));
}

// As many stages as messages can be in flight are all there is room for.
TEST_F(StagesTest, ThereIsRoomForEveryMessageInFlight) {
  std::vector<std::uint64_t> places;
  for (Staging* const link : {&first_, &second_, &third_})
    for (std::uint32_t slot = 0; slot < kShape.credits; ++slot)
      places.push_back(put(*link, slot, static_cast<int>(places.size())));
  for (std::size_t i = 0; i < places.size(); ++i)
    EXPECT_TRUE(holds(places[i], static_cast<int>(i)));
  std::sort(places.begin(), places.end());
  EXPECT_EQ(std::unique(places.begin(), places.end()), places.end());
  for (std::uint64_t taken = 1; taken < 50; ++taken) {
    first_.give_back(taken);
    EXPECT_TRUE(std::binary_search(places.begin(), places.end(), put(first_, (taken - 1) % 2, 9)));
  }
}

}  // namespace
}  // namespace hocket::transport::shm
