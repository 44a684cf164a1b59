// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <gtest/gtest.h>

namespace hocket {
namespace {

static_assert(sizeof(Error) == sizeof(void*));
static_assert(!std::is_copy_constructible_v<Error>);

TEST(Error, TextSaysWhoWhereAndWhy) {
  EXPECT_EQ(Error(Code::system, "open: permission denied").text(),
            "system error: open: permission denied");
  EXPECT_EQ(Error(Code::timeout, "no arrival for 30 s").at_rank(Rank{2}).text(),
            "rank 2: timeout: no arrival for 30 s");
  const Error error = Error(Code::peer_lost, "round 4 of ring")
                          .about_peer(Rank{3})
                          .at_rank(Rank{2})
                          .in_op(OpSeq{7})
                          .because(Error(Code::system, "process 4711 ended").at_rank(Rank{0}));
  EXPECT_EQ(error.text(),
            "rank 2: op 7: peer 3: peer lost: round 4 of ring"
            " (caused by rank 0: system error: process 4711 ended)");
}

TEST(Error, CausesNest) {
  Error error(Code::system, "a");
  for (const char* message : {"b", "c"}) {
    error = Error(Code::aborted, message).because(std::move(error));
  }
  EXPECT_EQ(error.text(), "aborted: c (caused by aborted: b (caused by system error: a))");
  EXPECT_EQ(error.cause()->cause()->message(), "a");
  EXPECT_EQ(error.cause()->cause()->cause(), nullptr);
}

TEST(Error, TellsItsParts) {
  const Error bare(Code::mismatch, "counts differ");
  EXPECT_EQ(bare.code(), Code::mismatch);
  EXPECT_EQ(bare.message(), "counts differ");
  EXPECT_EQ(bare.rank(), std::nullopt);
  EXPECT_EQ(bare.peer(), std::nullopt);
  EXPECT_EQ(bare.op(), std::nullopt);
  const Error full = Error(Code::mismatch, "").at_rank(Rank{1}).about_peer(Rank{2}).in_op(OpSeq{3});
  EXPECT_EQ(full.rank(), Rank{1});
  EXPECT_EQ(full.peer(), Rank{2});
  EXPECT_EQ(full.op(), OpSeq{3});
}

TEST(Error, ACloneIsEqualAndItsOwn) {
  Error error = Error(Code::aborted, "by the user")
                    .at_rank(Rank{5})
                    .in_op(OpSeq{1})
                    .because(Error(Code::cancelled, "x").about_peer(Rank{9}));
  const std::string text = error.text();
  const Error copy = error.clone();
  error = Error(Code::system, "something else");
  EXPECT_EQ(copy.text(), text);
  EXPECT_EQ(copy.cause()->peer(), Rank{9});
}

TEST(Error, NoMemoryTakesNoneAndStaysWhatItIs) {
  Error error = Error::no_memory().at_rank(Rank{1}).about_peer(Rank{2}).in_op(OpSeq{3}).because(
      Error(Code::system, "a cause"));
  EXPECT_EQ(error.code(), Code::out_of_memory);
  EXPECT_EQ(error.text(), "out of memory");
  EXPECT_STREQ(error.literal(), "out of memory");
  EXPECT_EQ(error.message(), "");
  EXPECT_EQ(error.rank(), std::nullopt);
  EXPECT_EQ(error.cause(), nullptr);
  const Error copy = error.clone();
  error = Error(Code::system, "something else");
  EXPECT_EQ(error.literal(), nullptr);
  EXPECT_EQ(copy.text(), "out of memory");
}

TEST(Error, EveryCodeHasItsName) {
  const char* const kNames[kCodes] = {"invalid argument", "invalid usage",   "mismatch",
                                      "timeout",          "cancelled",       "aborted",
                                      "peer lost",        "maybe delivered", "out of memory",
                                      "unsupported",      "system error"};
  for (std::size_t i = 0; i < kCodes; ++i) EXPECT_STREQ(name_of(static_cast<Code>(i)), kNames[i]);
}

}  // namespace
}  // namespace hocket
