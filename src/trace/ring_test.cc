// SPDX-License-Identifier: Apache-2.0
// Also run under ThreadSanitizer.
#include "trace/ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "testing/cases.h"

namespace hocket::trace {
namespace {

/// Every field follows from n, so that an event mixed of two shows.
Event numbered(std::uint64_t n) {
  Event event;
  event.time_ns = static_cast<std::int64_t>(n);
  event.a = n * 3;
  event.b = static_cast<std::uint32_t>(n * 5);
  event.op = static_cast<std::uint32_t>(n * 7);
  event.rank = static_cast<std::uint32_t>(n * 11);
  event.kind = static_cast<Kind>(n % kKinds);
  return event;
}

std::vector<Event> numbered_from(std::uint64_t first, std::uint64_t end) {
  std::vector<Event> events;
  for (std::uint64_t n = first; n != end; ++n) events.push_back(numbered(n));
  return events;
}

class RingTest : public ::testing::Test {
 protected:
  ConstBytes memory() const { return {storage.data(), Ring::bytes_for(8)}; }
  alignas(8) std::array<std::byte, 4096> storage{};
};

TEST_F(RingTest, KeepsTheLastEvents) {
  Ring ring({storage.data(), storage.size()}, 8, Rank{3});
  EXPECT_EQ(*read_ring(memory()), (Recording{Rank{3}, 0, {}}));
  for (std::uint64_t n = 0; n < 8; ++n) ring.record(numbered(n));
  EXPECT_EQ(*read_ring(memory()), (Recording{Rank{3}, 0, numbered_from(0, 8)}));
  for (std::uint64_t n = 8; n < 21; ++n) ring.record(numbered(n));
  EXPECT_EQ(ring.recorded(), 21u);
  EXPECT_EQ(*read_ring(memory()), (Recording{Rank{3}, 13, numbered_from(13, 21)}));
}

TEST_F(RingTest, ARingOfOne) {
  Ring ring({storage.data(), storage.size()}, 1, Rank{0});
  for (std::uint64_t n = 0; n < 3; ++n) ring.record(numbered(n));
  EXPECT_EQ(*read_ring(memory()), (Recording{Rank{0}, 2, numbered_from(2, 3)}));
}

TEST_F(RingTest, LeavesOutAnEventThatWasBeingWritten) {
  Ring ring({storage.data(), storage.size()}, 8, Rank{0});
  for (std::uint64_t n = 0; n < 4; ++n) ring.record(numbered(n));
  // The writer was killed with the word of event 2's slot cleared: header 32 bytes, slots of 40.
  std::memset(storage.data() + 32 + 2 * 40, 0, 8);
  std::vector<Event> rest = numbered_from(0, 4);
  rest.erase(rest.begin() + 2);
  EXPECT_EQ(*read_ring(memory()), (Recording{Rank{0}, 1, rest}));
}

std::string refusal(ConstBytes memory) { return read_ring(memory).error().text(); }

TEST_F(RingTest, MemoryThatIsNoRing) {
  EXPECT_EQ(refusal({nullptr, 100}), "mismatch: ring: offset 0: 100 bytes are no header");
  EXPECT_EQ(refusal({storage.data(), 31}), "mismatch: ring: offset 0: 31 bytes are no header");
  EXPECT_EQ(refusal({storage.data() + 1, 400}), "mismatch: ring: offset 0: not aligned to 8");
  EXPECT_EQ(refusal(memory()), "mismatch: ring: offset 0: not a ring's magic number");
  Ring ring({storage.data(), storage.size()}, 8, Rank{0});
  EXPECT_EQ(refusal({storage.data(), 351}),
            "mismatch: ring: offset 8: a capacity of 8 in 351 bytes");
  storage[8] = std::byte{7};
  EXPECT_EQ(refusal(memory()), "mismatch: ring: offset 8: a capacity of 7 in 352 bytes");
  storage[8] = std::byte{8};
  storage[20] = std::byte{1};
  EXPECT_EQ(refusal(memory()), "mismatch: ring: offset 16: rank 4294967296");
}

/// Whatever stands in the memory, reading it stays inside and ends.
TEST_F(RingTest, RandomCorruption) {
  Prng random(1);
  for (int i = 0; i < testing::cases(20'000); ++i) {
    Ring ring({storage.data(), storage.size()}, 8, Rank{0});
    const std::uint64_t events = random.below(20);
    for (std::uint64_t n = 0; n < events; ++n) ring.record(numbered(n));
    std::vector<std::uint64_t> copy(Ring::bytes_for(8) / 8);  // the size to the byte, for ASan
    std::memcpy(copy.data(), storage.data(), copy.size() * 8);
    for (std::uint64_t k = 0; k < 1 + random.below(4); ++k)
      copy[random.below(copy.size())] ^= random.next() >> random.below(64);
    const Result<Recording> recording =
        read_ring({reinterpret_cast<const std::byte*>(copy.data()), copy.size() * 8});
    if (recording) {
      EXPECT_LE(recording->events.size(), 8u);
    }
  }
}

/// A reader beside a writer that overtakes it sees whole events only, in order, each once.
TEST_F(RingTest, ReadersTolerateBeingOvertaken) {
  const auto events = static_cast<std::uint64_t>(testing::cases(400'000));
  Ring ring({storage.data(), storage.size()}, 8, Rank{0});
  std::thread writer([&] {
    for (std::uint64_t n = 0; n < events; ++n) ring.record(numbered(n));
  });
  std::uint64_t seen = 0, end = 0;
  while (end < events) {
    const Recording recording = read_ring(memory()).value();
    end = recording.lost + recording.events.size();
    std::uint64_t last = 0;
    for (const Event& event : recording.events) {
      const auto n = static_cast<std::uint64_t>(event.time_ns);
      ASSERT_EQ(event, numbered(n));
      ASSERT_GE(n, last);
      ASSERT_LT(n, end);
      last = n + 1;
      ++seen;
    }
  }
  writer.join();
  EXPECT_GT(seen, 0u);
  EXPECT_EQ(read_ring(memory())->events, numbered_from(events - 8, events));
}

TEST(RingDeathTest, Misuse) {
  alignas(8) std::array<std::byte, 400> storage;
  const auto make = [&](std::uint64_t offset, std::uint64_t size, std::uint32_t capacity) {
    Ring ring({storage.data() + offset, size}, capacity, Rank{0});
  };
  EXPECT_DEATH(make(0, 400, 6), "a ring's capacity is a power of two");
  EXPECT_DEATH(make(0, 400, 0), "a ring's capacity is a power of two");
  EXPECT_DEATH(make(0, 351, 8), "a ring needs its memory");
  EXPECT_DEATH(make(4, 352, 8), "a ring's memory is aligned to 8");
}

}  // namespace
}  // namespace hocket::trace
