// SPDX-License-Identifier: Apache-2.0
#include "trace/dump.h"

#include <gtest/gtest.h>

#include <string>

#include "base/prng.h"
#include "testing/cases.h"

namespace hocket::trace {
namespace {

using Dump = std::vector<std::byte>;

std::vector<Recording> example() {
  Event submitted, failed;
  submitted.time_ns = 1'000;
  submitted.kind = Kind::op_submitted;
  submitted.a = 4096;
  failed.time_ns = -5;
  failed.kind = Kind::op_failed;
  failed.b = kNobody.value;
  return {{Rank{0}, 0, {submitted, failed}}, {Rank{7}, 12, {}}, {Rank{2}, 0, {failed}}};
}

ConstBytes view(const Dump& dump) { return {dump.data(), dump.size()}; }

std::string refusal(const Dump& dump) {
  const Result<std::vector<Recording>> decoded = decode(view(dump));
  return decoded ? "accepted" : decoded.error().text();
}

TEST(Dump, ComesBackAsItWas) {
  const Dump dump = encode(example());
  EXPECT_EQ(dump.size(), 24u + 3 * (24 + 8) + 3 * 32);
  EXPECT_EQ(*decode(view(dump)), example());
  EXPECT_EQ(*decode(view(encode({}))), std::vector<Recording>{});
}

TEST(Dump, TheFormatIsFixed) {
  const Dump dump = encode(std::vector<Recording>{{Rank{7}, 12, {}}});
  const unsigned char expected[] = {
      'h', 'k', 't', 'd', 'u', 'm', 'p', '\n', 4,  3, 2, 1, 1, 0, 0, 0, 32, 0, 0, 0, 1, 0, 0, 0,
      'R', 'I', 'N', 'G', 7,   0,   0,   0,    12, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(dump.size(), sizeof(expected) + 8);
  for (std::size_t i = 0; i < sizeof(expected); ++i)
    EXPECT_EQ(std::to_integer<int>(dump[i]), expected[i]) << i;
}

TEST(Dump, ErrorsNameTheOffset) {
  const Dump good = encode(example());
  const auto changed = [&](std::size_t offset, int value) {
    Dump dump = good;
    dump[offset] = static_cast<std::byte>(value);
    return refusal(dump);
  };
  EXPECT_EQ(changed(0, 'H'), "mismatch: dump: offset 0: not a dump's magic word");
  EXPECT_EQ(changed(8, 9), "mismatch: dump: offset 8: no byte order");
  EXPECT_EQ(changed(12, 2), "unsupported: dump: offset 12: version 2, not 1");
  EXPECT_EQ(changed(16, 40), "mismatch: dump: offset 16: events of 40 bytes, not 32");
  EXPECT_EQ(changed(20, 2), "mismatch: dump: offset 152: 64 bytes follow the last recording");
  EXPECT_EQ(changed(20, 4),
            "mismatch: dump: offset 216: 0 bytes are left, too few for a recording's header");
  EXPECT_EQ(changed(24, 0), "mismatch: dump: offset 24: no recording begins here");
  EXPECT_EQ(changed(28, 1),
            "mismatch: dump: offset 112: the checksum of the recording from 24 on is another");
  EXPECT_EQ(changed(47, 1), "mismatch: dump: offset 40: 72057594037927938 events in 168 bytes");
  Dump other_order = good;
  for (std::size_t i = 0; i < 4; ++i) other_order[8 + i] = static_cast<std::byte>(i + 1);
  EXPECT_EQ(refusal(other_order), "unsupported: dump: offset 8: written with the other byte order");
}

TEST(Dump, RefusesAKindThatThisVersionDoesNotHave) {
  std::vector<Recording> recordings = example();
  recordings[0].events[1].kind = static_cast<Kind>(kKinds);
  EXPECT_EQ(refusal(encode(recordings)),
            "mismatch: dump: offset 108: an event of kind " + std::to_string(kKinds));
}

TEST(Dump, RefusesEveryTruncation) {
  const Dump good = encode(example());
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Dump cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(refusal(cut), "accepted") << size;
  }
}

TEST(Dump, RefusesEveryFlippedBit) {
  Dump dump = encode(example());
  for (std::size_t bit = 0; bit < dump.size() * 8; ++bit) {
    dump[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_NE(refusal(dump), "accepted") << bit;
    dump[bit / 8] ^= std::byte{1} << bit % 8;
  }
}

TEST(Dump, RefusesRandomCorruption) {
  const Dump good = encode(example());
  Prng random(1);
  for (int i = 0; i < testing::cases(50'000); ++i) {
    Dump dump = good;
    dump.resize(random.below(8) == 0 ? random.below(2 * good.size()) : good.size());
    for (std::uint64_t k = 0; k < random.below(6) && !dump.empty(); ++k)
      dump[random.below(dump.size())] = static_cast<std::byte>(random.next());
    if (dump != good) {
      ASSERT_NE(refusal(dump), "accepted") << i;
    }
  }
}

}  // namespace
}  // namespace hocket::trace
