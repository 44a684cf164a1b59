// SPDX-License-Identifier: Apache-2.0
// The two ends of a link and the segment between them, with a peer that writes nonsense.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "transport/shm/copy.h"
#include "transport/shm/cross_memory.h"
#include "transport/shm/fabric.h"
#include "transport/shm/membership.h"
#include "transport/shm/place.h"
#include "transport/shm/rig_suite.h"

namespace hocket::transport::shm {
namespace {

constexpr Shape kShape{.world = 2, .channels = 2, .credits = 4, .slice_bytes = 4096};

const world::Failure kFailure{Code::aborted, Rank{0}, Rank{0}, OpSeq{0}};

// Rank `rank` of a segment, without a meeting.
struct Side {
  Side(Rig& rig, const File& file, std::uint32_t rank)
      : place(Place::take(rig.node, Rank{rank}, kShape, File(::dup(file.get()))).value()),
        peers(place.segment(), {place.rank(), place.identity(), place.descriptor()}, rig.node),
        fabric(peers),
        membership(peers, fabric) {}
  Place place;
  Peers peers;
  Fabric fabric;
  Membership membership;
};

class Links : public ::testing::Test {
 protected:
  void open(const Options& options = {}) {
    first_.reset();
    second_.reset();
    rig_.emplace(options);
    const File file = Segment::create(kShape).value();
    first_.emplace(*rig_, file, 0);
    second_.emplace(*rig_, file, 1);
    // The second rank's row was empty when the first looked.
    first_.reset();
    first_.emplace(*rig_, file, 0);
    out_ = waiter_of(Rank{0}, Rank{1}, world::Port::staged);
    in_ = waiter_of(Rank{1}, Rank{0}, world::Port::arrival);
  }
  Box& box() { return *first_->place.segment().box(Rank{0}, Rank{1}, ChannelId{0}).value(); }
  Result<void> write(std::uint64_t size) {
    EXPECT_TRUE(first_->fabric.ready(out_));
    return first_->fabric.write(out_, {{bytes_, size}, 0});
  }
  void expect_nonsense(const Error& error, const std::string& what) {
    EXPECT_EQ(error.code(), Code::peer_lost);
    EXPECT_NE(error.message().find(what), std::string::npos) << error.text();
  }
  std::optional<Rig> rig_;
  std::optional<Side> first_, second_;
  world::Waiter out_, in_;
  alignas(64) std::byte bytes_[4096] = {};
};

TEST_F(Links, RefuseAKindThatThereIsNot) {
  open();
  ASSERT_TRUE(write(8));
  box().slots()[0].kind = static_cast<Kind>(77);
  ASSERT_TRUE(second_->fabric.ready(in_));
  expect_nonsense(second_->fabric.front(in_, 8).error(), "rank 0 wrote nonsense");
  EXPECT_TRUE(second_->fabric.ready(in_));
  expect_nonsense(second_->fabric.land(in_, {bytes_, 8}).error(), "a message of kind 77");
}

TEST_F(Links, RefuseAMessageTooLongForItsSlot) {
  open();
  ASSERT_TRUE(write(8));
  box().slots()[0].size = 100;
  ASSERT_TRUE(second_->fabric.ready(in_));
  expect_nonsense(second_->fabric.front(in_, 100).error(), "kind 1 and size 100");
}

TEST_F(Links, RefuseAPlaceOutsideTheSegment) {
  for (const std::uint64_t place : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    open({.cross_memory = false, .share_addresses = false});
    ASSERT_TRUE(write(4096));
    ASSERT_EQ(box().slots()[0].kind, Kind::staged);
    box().slots()[0].place = place;
    ASSERT_TRUE(second_->fabric.ready(in_));
    expect_nonsense(second_->fabric.front(in_, 4096).error(), "at " + std::to_string(place));
  }
}

TEST_F(Links, RefuseAnAddressThatTheyCannotRead) {
  open({.cross_memory = false, .share_addresses = false});
  ASSERT_TRUE(write(4096));
  box().slots()[0].kind = Kind::addressed;
  ASSERT_TRUE(second_->fabric.ready(in_));
  expect_nonsense(second_->fabric.front(in_, 4096).error(), "wrote nonsense");
}

TEST_F(Links, SurviveAnAddressWhereThereIsNothing) {
  open({.staged_bytes = 0, .share_addresses = false});
  ASSERT_TRUE(second_->fabric.ready(in_) || true);  // the receiver says that it can read
  ASSERT_TRUE(write(4096));
  ASSERT_EQ(box().slots()[0].kind, Kind::addressed);
  box().slots()[0].place = 4096;
  Result<ConstBytes> bytes = second_->fabric.front(in_, 4096);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code(), Code::system);
  EXPECT_EQ(bytes.error().message(),
            "the 4096 bytes that rank 0 sent cannot be read: there is no such memory");
}

TEST_F(Links, DisbelieveCreditsThatTheyNeverGave) {
  open();
  for (std::uint32_t i = 0; i < kShape.credits; ++i) ASSERT_TRUE(write(8));
  box().popped.store(kShape.credits + 1);
  ASSERT_TRUE(first_->fabric.ready(out_));
  expect_nonsense(first_->fabric.write(out_, {}).error(), "claims to have taken 5 messages of 4");
}

TEST_F(Links, DisbelieveADirectoryThatPointsNowhere) {
  open();
  auto& place = first_->place;
  const auto& row = place.segment().row(Rank{1});
  auto* const directory = reinterpret_cast<std::atomic<std::uint32_t>*>(const_cast<Row*>(&row) + 1);
  for (int i = 0; i < 8; ++i) directory[i].store(3);  // within the board
  ASSERT_TRUE(first_->fabric.ready(out_));
  expect_nonsense(first_->fabric.write(out_, {}).error(), "which cannot be");
  ASSERT_TRUE(second_->fabric.ready(in_));
  expect_nonsense(second_->fabric.front(in_, 0).error(), "which cannot be");
}

TEST_F(Links, DisbelieveFailuresThatCannotBe) {
  open();
  Row& row = second_->place.segment().row(Rank{1});
  row.failure_code = 200;
  row.failure_culprit = 12345;
  second_->place.segment().reporter().store(2);
  EXPECT_EQ(first_->membership.failure()->code, Code::peer_lost);
  EXPECT_EQ(first_->membership.failure()->culprit, kNobody);
  EXPECT_EQ(first_->membership.failure()->reporter, Rank{1});
  second_->place.segment().reporter().store(99);
  EXPECT_EQ(first_->membership.failure()->reporter, kNobody);
}

// The first sends by address, fails, and may then free its memory: whoever reads it has ended.
TEST_F(Links, CloseOnlyWhenNobodyReadsAnyMore) {
  open({.staged_bytes = 0});
  ASSERT_FALSE(second_->fabric.ready(in_));
  ASSERT_TRUE(write(4096));
  ASSERT_TRUE(second_->fabric.front(in_, 4096));
  EXPECT_EQ(box().reading.load(), 1u);
  std::atomic<bool> is_closed{false};
  std::thread closing([&] {
    first_->membership.fail(kFailure);
    is_closed.store(true);
  });
  while (!box().closed.load()) ::sched_yield();
  EXPECT_FALSE(is_closed.load());
  second_->fabric.pop(in_);
  closing.join();
  EXPECT_EQ(box().reading.load(), 0u);
}

TEST_F(Links, ReadNothingOnceClosed) {
  open({.staged_bytes = 0});
  ASSERT_FALSE(second_->fabric.ready(in_));
  ASSERT_TRUE(write(4096));
  first_->membership.fail(kFailure);
  ASSERT_TRUE(second_->fabric.ready(in_));
  Result<ConstBytes> bytes = second_->fabric.front(in_, 4096);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code(), Code::peer_lost);
  EXPECT_EQ(bytes.error().message(), "rank 0 took its message back: the communicator has failed");
  EXPECT_EQ(box().reading.load(), 0u);
}

TEST_F(Links, SaySoWhenTheSegmentIsFull) {
  open({.cross_memory = false, .share_addresses = false});
  while (first_->place.segment().allocate(4096)) {
  }
  Result<void> written = write(4096);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code(), Code::out_of_memory);
  EXPECT_EQ(written.error().rank(), Rank{0});
  EXPECT_EQ(written.error().peer(), Rank{1});
  EXPECT_TRUE(write(8)) << "what needs no room still goes";
}

TEST(Segments, CutTheHeapIntoPiecesThatDoNotOverlap) {
  Rig rig;
  const File file = Segment::create(kShape).value();
  Place place = Place::take(rig.node, Rank{0}, kShape, File(::dup(file.get()))).value();
  Segment& segment = place.segment();
  std::uint64_t end = 0;
  for (const std::uint64_t size : {1u, 64u, 100u, 4096u}) {
    const std::uint64_t begin = segment.allocate(size).value();
    EXPECT_GE(begin, end);
    EXPECT_EQ(begin % 64, 0u);
    EXPECT_NE(segment.at(begin, size), nullptr);
    end = begin + size;
  }
  const std::uint64_t bytes = Segment::bytes(kShape);
  EXPECT_EQ(segment.at(0, 1), nullptr) << "the header is not heap";
  EXPECT_NE(segment.at(bytes - 8, 8), nullptr);
  EXPECT_EQ(segment.at(bytes - 8, 9), nullptr);
  EXPECT_EQ(segment.at(~std::uint64_t{0}, 2), nullptr);
  EXPECT_EQ(segment.at(end, ~std::uint64_t{0}), nullptr);
}

TEST(Segments, CannotBeCutShortByAPeer) {
  const File file = Segment::create(kShape).value();
  EXPECT_NE(::ftruncate(file.get(), 4096), 0);
  EXPECT_TRUE(Segment::check(file, kShape));
  Shape other = kShape;
  other.world = 3;
  EXPECT_EQ(Segment::check(file, other).error().code(), Code::mismatch);
}

// The kernel kills a process whose file would be longer than it may be.
TEST(Segments, TellOfTheLimitOfFiles) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Result<File> refused = Segment::create(kShape);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "a shared segment of " + std::to_string(Segment::bytes(kShape)) +
                " bytes: this process may make files of 4096 at most (RLIMIT_FSIZE, ulimit -f)");
}

TEST(Segments, HaveRoomForEveryLinkOfALargeWorldInAddressesAlone) {
  const Shape large{.world = 256, .channels = 8, .credits = 8, .slice_bytes = 1 << 19};
  EXPECT_EQ(Segment::bytes(large), std::uint64_t{1} << 38);
  const Shape huge{.world = 1024, .channels = 256, .credits = 64, .slice_bytes = 1 << 30};
  EXPECT_LE(Segment::bytes(huge), std::uint64_t{1} << 38);
  EXPECT_TRUE(Segment::create(large));
}

TEST(CrossMemory, ReadsWhatIsThereAndNothingElse) {
  Rig rig;
  const Identity own = rig.node.identity().value();
  ASSERT_TRUE(can_read(own, own)) << "the kernel refuses: run where it does not";
  std::vector<std::byte> source(10'000, std::byte{5}), target(10'000);
  const auto address = reinterpret_cast<std::uint64_t>(source.data());
  for (const bool is_verified : {false, true}) {
    std::fill(target.begin(), target.end(), std::byte{0});
    EXPECT_EQ(read_memory(own, {address, is_verified}, {target.data(), target.size()}),
              Attach::done);
    EXPECT_EQ(source, target);
    EXPECT_EQ(read_memory(own, {4096, is_verified}, {target.data(), 8}), Attach::unreadable);
  }
  Identity other = own;
  other.cookie ^= 1;
  EXPECT_FALSE(can_read(own, other));
  EXPECT_EQ(read_memory(other, {address, false}, {target.data(), 8}), Attach::gone);
  other = own;
  other.pid_namespace ^= 1;
  EXPECT_FALSE(can_read(own, other)) << "a pid of another namespace";
}

TEST(Copies, AreWholeAtEverySizeAndDistance) {
  std::vector<std::byte> source(8192), target(3 * 4096 + 8192);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7);
  for (std::size_t size = 0; size < 300; ++size) {
    std::fill(target.begin(), target.end(), std::byte{1});
    copy_by_words(target.data() + 3, source.data() + 1, size);
    EXPECT_EQ(std::memcmp(target.data() + 3, source.data() + 1, size), 0);
    EXPECT_EQ(target[2], std::byte{1});
    EXPECT_EQ(target[3 + size], std::byte{1});
  }
  copy(nullptr, nullptr, 0);
  EXPECT_FALSE(is_slow_move(4096, 8192));
  EXPECT_TRUE(is_slow_move(8193, 4096));
  EXPECT_TRUE(is_slow_move(8192 + 31, 4096));
  EXPECT_FALSE(is_slow_move(8192 + 32, 4096));
  EXPECT_FALSE(is_slow_move(8191, 4096));
}

}  // namespace
}  // namespace hocket::transport::shm
