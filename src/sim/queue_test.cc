// SPDX-License-Identifier: Apache-2.0
#include "sim/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/prng.h"
#include "testing/cases.h"

namespace hocket::sim {
namespace {

constexpr ChannelId kChannel{3};

Event at(Picoseconds time, std::uint32_t rank = 0, Kind kind = Kind::receive) {
  return Event(time, kind, {Rank{rank}, kChannel});
}

TEST(Event, KeepsItsParts) {
  const Event event(123'456'789'012'345, Kind::first_byte,
                    {Rank{0xfffffe}, ChannelId{0xffff}, Rank{0xabcdef}});
  EXPECT_EQ(event.time(), 123'456'789'012'345u);
  EXPECT_EQ(event.kind(), Kind::first_byte);
  EXPECT_EQ(event.rank(), Rank{0xfffffe});
  EXPECT_EQ(event.channel(), ChannelId{0xffff});
  EXPECT_EQ(event.from(), Rank{0xabcdef});
}

TEST(Event, TiesAreBrokenByKindThenByRank) {
  EXPECT_LT(at(5, 9, Kind::first_byte), at(5, 0, Kind::send));
  EXPECT_LT(at(5, 9, Kind::send), at(5, 0, Kind::receive));
  EXPECT_LT(at(5, 0), at(5, 1));
  EXPECT_LT(at(5, 9), at(6, 0));
}

std::vector<Event> serve_all(Queue& queue) {
  std::vector<Event> served;
  for (Picoseconds next = queue.next(); next != Queue::kEnd; next = queue.next())
    queue.run(next + queue.window(), [&](const Event& event) { served.push_back(event); });
  return served;
}

TEST(Queue, ServesANodesEventsBeforeTheNextNodes) {
  Queue queue(2, 100);
  queue.push(0, at(10, 0));
  queue.push(1, at(20, 1));
  queue.push(0, at(90, 0));
  queue.push(1, at(100, 1));
  std::vector<Picoseconds> times;
  for (const Event& event : serve_all(queue)) times.push_back(event.time());
  EXPECT_EQ(times, (std::vector<Picoseconds>{10, 90, 20, 100}));
}

TEST(Queue, AWindowCutShortGoesOnLater) {
  Queue queue(1, 100);
  for (const Picoseconds time : {10u, 20u, 30u}) queue.push(0, at(time));
  std::vector<Picoseconds> times;
  const auto serve = [&](const Event& event) { times.push_back(event.time()); };
  EXPECT_EQ(queue.next(), 0u);
  queue.run(20, serve);
  EXPECT_EQ(times, (std::vector<Picoseconds>{10}));
  EXPECT_EQ(queue.next(), 0u);
  queue.run(100, serve);
  EXPECT_EQ(times, (std::vector<Picoseconds>{10, 20, 30}));
  EXPECT_EQ(queue.next(), Queue::kEnd);
}

TEST(Queue, FindsWhatIsFarAway) {
  Queue queue(3, 1'000);
  queue.push(0, at(5'000'000'000'000));
  queue.push(1, at(7, 1));
  queue.push(2, at(40'000'000, 2));
  std::vector<Picoseconds> times;
  for (const Event& event : serve_all(queue)) times.push_back(event.time());
  EXPECT_EQ(times, (std::vector<Picoseconds>{7, 40'000'000, 5'000'000'000'000}));
}

TEST(Queue, AnnouncesNodesBeforeTheirTurn) {
  constexpr std::uint32_t kNodes = 12;
  Queue queue(kNodes, 100);
  for (std::uint32_t node = 0; node < kNodes; ++node) queue.push(node, at(10, node));
  std::vector<std::vector<std::uint32_t>> leads(kNodes);
  std::uint32_t served = 0;
  queue.run(
      100, [&](const Event&) { ++served; },
      [&](std::uint32_t node, std::uint32_t lead) {
        EXPECT_EQ(node, served + 2 * lead + 2);
        leads[node].push_back(lead);
      });
  EXPECT_EQ(served, kNodes);
  EXPECT_EQ(leads[0], (std::vector<std::uint32_t>{}));  // nothing came before it
  EXPECT_EQ(leads[4], (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(leads[11], (std::vector<std::uint32_t>{3, 2, 1, 0}));
}

TEST(Queue, ErasesWheneverItIsDue) {
  Queue queue(1, 100);
  queue.push(0, at(10, 1));
  queue.push(0, at(20, 2));
  queue.push(0, at(30, 3));
  queue.erase(0, at(0, 2));
  queue.erase(0, at(0, 7));
  const std::vector<Event> served = serve_all(queue);
  ASSERT_EQ(served.size(), 2u);
  EXPECT_EQ(served[0].rank(), Rank{1});
  EXPECT_EQ(served[1].rank(), Rank{3});
}

std::vector<Event> events_of(const std::vector<Event>& all, std::uint32_t node) {
  std::vector<Event> events;
  for (const Event& event : all)
    if (event.rank() == Rank{node}) events.push_back(event);
  return events;
}

/// Against a sorted list: each node's events in order, no window before the one before it, while
/// events beget events on their own node at any time and on others a window later.
TEST(Queue, AgreesWithASortedList) {
  for (int seed = 0; seed < testing::cases(200); ++seed) {
    Prng random(static_cast<std::uint64_t>(seed));
    constexpr std::uint32_t kNodes = 5;
    constexpr Picoseconds kWindow = 50;
    Queue queue(kNodes, kWindow);
    std::vector<Event> pushed, served;
    const auto push = [&](Picoseconds time, std::uint32_t node) {
      const Rank number{static_cast<std::uint32_t>(pushed.size())};
      const Event event(time, Kind::send, {Rank{node}, kChannel, number});
      pushed.push_back(event);
      queue.push(node, event);
    };
    for (int i = 0; i < 20; ++i) push(random.below(1'000), static_cast<std::uint32_t>(i) % kNodes);
    const auto serve = [&](const Event& event) {
      served.push_back(event);
      if (pushed.size() > 400) return;
      push(event.time() + random.below(2 * kWindow), event.rank().value);
      push(event.time() + kWindow + random.below(1'000'000), (event.rank().value + 1) % kNodes);
    };
    for (Picoseconds next = queue.next(); next != Queue::kEnd; next = queue.next())
      queue.run(next + kWindow, serve);

    for (std::size_t i = 1; i < served.size(); ++i)
      ASSERT_LE(served[i - 1].time() / kWindow, served[i].time() / kWindow) << seed;
    ASSERT_EQ(served.size(), pushed.size());
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      std::vector<Event> expected = events_of(pushed, node);
      std::sort(expected.begin(), expected.end());
      const std::vector<Event> actual = events_of(served, node);
      ASSERT_EQ(actual.size(), expected.size()) << seed;
      for (std::size_t i = 0; i < actual.size(); ++i)
        ASSERT_TRUE(!(actual[i] < expected[i]) && !(expected[i] < actual[i])) << seed << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace hocket::sim
