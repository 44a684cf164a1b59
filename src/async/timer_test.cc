// SPDX-License-Identifier: Apache-2.0
#include "async/timer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "testing/cases.h"

namespace hocket {
namespace {

class Noting final : public Timer {
 public:
  Noting(int name, std::vector<int>& expired) : name_(name), expired_(expired) {}

 private:
  void expired() override { expired_.push_back(name_); }
  int name_;
  std::vector<int>& expired_;
};

TEST(Timers, ExpireInOrderOfInstantThenOfAdding) {
  std::vector<int> expired;
  Noting a(1, expired), b(2, expired), c(3, expired), d(4, expired);
  Timers timers;
  timers.add(a, Instant{20});
  timers.add(b, Instant{10});
  timers.add(c, Instant{20});
  timers.add(d, Instant{10});
  EXPECT_EQ(timers.next(), Instant{10});
  EXPECT_FALSE(timers.expire(Instant{9}));
  EXPECT_TRUE(timers.expire(Instant{10}));
  EXPECT_EQ(expired, (std::vector{2, 4}));
  EXPECT_EQ(timers.next(), Instant{20});
  EXPECT_TRUE(timers.expire(Instant{1'000}));
  EXPECT_EQ(expired, (std::vector{2, 4, 1, 3}));
  EXPECT_EQ(timers.next(), kNever);
  EXPECT_FALSE(a.armed());
}

TEST(Timers, NeverIsNotArmed) {
  std::vector<int> expired;
  Noting a(1, expired);
  Timers timers;
  timers.add(a, kNever);
  EXPECT_FALSE(a.armed());
  timers.remove(a);
  EXPECT_EQ(timers.next(), kNever);
  EXPECT_FALSE(timers.expire(Instant{kNever.ns - 1}));
}

class Rearming final : public Timer {
 public:
  explicit Rearming(Timers& timers) : timers_(timers) {}
  int count = 0;

 private:
  void expired() override {
    ++count;
    timers_.add(*this, Instant{0});
  }
  Timers& timers_;
};

TEST(Timers, ATimerArmedMeanwhileWaitsForTheNextCall) {
  Timers timers;
  Rearming timer(timers);
  timers.add(timer, Instant{5});
  EXPECT_TRUE(timers.expire(Instant{5}));
  EXPECT_EQ(timer.count, 1);
  EXPECT_TRUE(timers.expire(Instant{5}));
  EXPECT_EQ(timer.count, 2);
  timers.remove(timer);
}

class SelfDestroying final : public Timer {
 public:
  std::unique_ptr<SelfDestroying> self;

 private:
  void expired() override { self.reset(); }
};

TEST(Timers, ATimerMayDestroyItself) {
  Timers timers;
  auto timer = std::make_unique<SelfDestroying>();
  SelfDestroying& alias = *timer;
  alias.self = std::move(timer);
  timers.add(alias, Instant{5});
  EXPECT_TRUE(timers.expire(Instant{5}));
  EXPECT_EQ(timers.next(), kNever);
}

/// The same timers in a sorted list.
class Model {
 public:
  void add(int name, std::int64_t at) {
    entries_.push_back({at, added_++, name});
    std::sort(entries_.begin(), entries_.end());
  }
  void remove(int name) {
    std::erase_if(entries_, [&](const Entry& e) { return e.name == name; });
  }
  void expire(std::int64_t now) {
    const auto later =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.at > now; });
    for (auto due = entries_.begin(); due != later; ++due) expired.push_back(due->name);
    entries_.erase(entries_.begin(), later);
  }
  Instant next() const { return entries_.empty() ? kNever : Instant{entries_.front().at}; }
  std::vector<int> expired;

 private:
  struct Entry {
    std::int64_t at;
    int added;
    int name;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> entries_;
  int added_ = 0;
};

void agree_with_a_sorted_list(std::uint64_t seed) {
  Prng random(seed);
  std::vector<int> expired;
  std::vector<std::unique_ptr<Noting>> notes;
  for (int i = 0; i < 40; ++i) notes.push_back(std::make_unique<Noting>(i, expired));
  Timers timers;
  Model model;
  std::int64_t now = 0;
  for (int step = 0; step < 1'000; ++step) {
    const int name = static_cast<int>(random.below(notes.size()));
    Noting& note = *notes[static_cast<std::size_t>(name)];
    if (random.below(8) == 0) {
      now += static_cast<std::int64_t>(random.below(30));
      timers.expire(Instant{now});
      model.expire(now);
    } else if (note.armed()) {
      timers.remove(note);
      model.remove(name);
    } else {
      const std::int64_t at = now + static_cast<std::int64_t>(random.below(50));
      timers.add(note, Instant{at});
      model.add(name, at);
    }
    ASSERT_EQ(timers.next(), model.next());
  }
  timers.expire(Instant{now + 1'000});
  model.expire(now + 1'000);
  ASSERT_EQ(expired, model.expired);
}

TEST(Timers, AgreeWithASortedList) {
  for (int seed = 0; seed < testing::cases(200); ++seed) {
    SCOPED_TRACE(seed);
    agree_with_a_sorted_list(static_cast<std::uint64_t>(seed));
  }
}

TEST(TimersDeathTest, ArmedTwiceAndEndingWhileArmed) {
  std::vector<int> expired;
  EXPECT_DEATH(
      {
        Noting a(1, expired);
        Timers timers;
        timers.add(a, Instant{1});
        timers.add(a, Instant{2});
      },
      "a timer is armed once at a time");
  EXPECT_DEATH(
      {
        Timers timers;
        Noting a(1, expired);
        timers.add(a, Instant{1});
      },
      "a timer ended while armed");
}

}  // namespace
}  // namespace hocket
