// SPDX-License-Identifier: Apache-2.0
// The three forms in which engine state crosses threads; also run under ThreadSanitizer.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/baton.h"
#include "base/mailbox.h"
#include "base/word.h"
#include "testing/cases.h"

namespace hocket {
namespace {

TEST(Baton, IsHeldByOneAtATime) {
  Baton baton;
  EXPECT_TRUE(baton.try_take());
  EXPECT_FALSE(baton.try_take());
  baton.lay_down();
  EXPECT_TRUE(baton.try_take());
}

TEST(Baton, OrdersTheMemoryOfWhoeverHoldsIt) {
  const int each = testing::cases(20'000);
  Baton baton;
  int plain = 0;  // guarded by the baton
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int done = 0; done < each;) {
        if (!baton.try_take()) {
          std::this_thread::yield();
          continue;
        }
        ++plain;
        ++done;
        baton.lay_down();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plain, 3 * each);
}

TEST(Baton, IsHeldForAScope) {
  Baton baton;
  {
    const Held held(baton);
    EXPECT_FALSE(baton.try_take());
  }
  EXPECT_TRUE(baton.try_take());
  int waited = 0;
  {
    const Held held(baton, [&] {
      if (++waited == 3) baton.lay_down();
    });
    EXPECT_EQ(waited, 3);
    EXPECT_FALSE(baton.try_take());
  }
  EXPECT_TRUE(baton.try_take());
}

struct Letter {
  Letter* next_mail = nullptr;
  int sender = 0, number = 0;
};

TEST(Mailbox, GivesTheOldestFirst) {
  Mailbox<Letter> mailbox;
  EXPECT_TRUE(mailbox.empty());
  EXPECT_EQ(mailbox.take_all(), nullptr);
  Letter a, b, c;
  for (Letter* letter : {&a, &b, &c}) mailbox.push(*letter);
  EXPECT_FALSE(mailbox.empty());
  EXPECT_EQ(mailbox.take_all(), &a);
  EXPECT_EQ(a.next_mail, &b);
  EXPECT_EQ(b.next_mail, &c);
  EXPECT_EQ(c.next_mail, nullptr);
  EXPECT_TRUE(mailbox.empty());
  mailbox.push(b);
  EXPECT_EQ(mailbox.take_all(), &b);
}

TEST(Mailbox, LosesNothingAndKeepsEachSendersOrder) {
  constexpr int kSenders = 3;
  const int each = testing::cases(20'000);
  Mailbox<Letter> mailbox;
  std::vector<std::vector<Letter>> letters(kSenders);
  std::vector<std::thread> threads;
  for (int s = 0; s < kSenders; ++s) {
    letters[static_cast<std::size_t>(s)].resize(static_cast<std::size_t>(each));
    threads.emplace_back([&, s] {
      int number = 0;
      for (Letter& letter : letters[static_cast<std::size_t>(s)]) {
        letter.sender = s;
        letter.number = number++;
        mailbox.push(letter);
      }
    });
  }
  int expected[kSenders] = {};
  for (int taken = 0; taken < kSenders * each;) {
    const Letter* letter = mailbox.take_all();
    if (letter == nullptr) std::this_thread::yield();
    for (; letter != nullptr; letter = letter->next_mail, ++taken) {
      ASSERT_EQ(letter->number, expected[letter->sender]++);
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(mailbox.empty());
}

TEST(Word, PublishesWhatWasWrittenBefore) {
  const int rounds = testing::cases(20'000);
  Word asked, answered;
  int question = 0, answer = 0;
  std::thread other([&] {
    for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(rounds); ++i) {
      while (asked.load() != i) std::this_thread::yield();
      answer = question + 1;
      answered.store(i);
    }
  });
  for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(rounds); ++i) {
    question = static_cast<int>(10 * i);
    asked.store(i);
    while (answered.load() != i) std::this_thread::yield();
    ASSERT_EQ(answer, static_cast<int>(10 * i + 1));
  }
  other.join();
}

TEST(Word, AddGivesTheSum) {
  Word word(40);
  EXPECT_EQ(word.add(2), 42u);
  EXPECT_EQ(word.load(), 42u);
  word.store(~0u);
  EXPECT_EQ(word.add(2), 1u);
}

TEST(Word, SetsBitsAndReplaces) {
  Word word(8);
  EXPECT_EQ(word.set(3), 11u);
  std::uint32_t expected = 8;
  EXPECT_FALSE(word.replace(expected, 5));
  EXPECT_EQ(expected, 11u);
  while (!word.replace(expected, 5)) {  // may fail by itself
  }
  EXPECT_EQ(word.load(), 5u);
}

}  // namespace
}  // namespace hocket
