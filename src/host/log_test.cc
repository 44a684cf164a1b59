// SPDX-License-Identifier: Apache-2.0
#include "host/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/ids.h"
#include "base/types.h"

namespace hocket::host {
namespace {

using trace::Event;
using trace::Kind;

const Event kSubmitted{.a = 4096,
                       .b = static_cast<std::uint32_t>(Collective::broadcast) |
                            static_cast<std::uint32_t>(DataType::float16) << 8 |
                            static_cast<std::uint32_t>(ReduceOp::max) << 16,
                       .op = 7,
                       .rank = 2,
                       .kind = Kind::op_submitted};
const Event kStarted{.a = 1, .b = 4 | 3 << 16, .op = 7, .rank = 2, .kind = Kind::op_started};
const Event kCompleted{.a = 1234, .op = 7, .rank = 2, .kind = Kind::op_completed};
const Event kFailed{.a = static_cast<std::uint64_t>(Code::peer_lost),
                    .b = 3,
                    .op = 7,
                    .rank = 2,
                    .kind = Kind::op_failed};
const Event kLate{.a = 5'000'000'000, .b = 3, .op = 7, .rank = 2, .kind = Kind::peer_late};
const Event kLost{.b = 3, .rank = 2, .kind = Kind::peer_lost};

TEST(Log, Texts) {
  EXPECT_EQ(Log::text_of(kSubmitted), "rank 2 op 7: broadcast float16 max, 4096 bytes, submitted");
  EXPECT_EQ(Log::text_of(kStarted), "rank 2 op 7: algorithm 1, 4 channels, 3 pieces, started");
  EXPECT_EQ(Log::text_of(kCompleted), "rank 2 op 7: completed after 1234 ns");
  EXPECT_EQ(Log::text_of(kFailed), "rank 2 op 7: failed: peer lost, culprit rank 3");
  EXPECT_EQ(Log::text_of(kLate), "rank 2 op 7: peer 3 has been silent for 5000 ms");
  EXPECT_EQ(Log::text_of(kLost), "rank 2: peer 3 is lost");
  Event undetermined = kFailed;
  undetermined.b = kNobody.value;
  EXPECT_EQ(Log::text_of(undetermined), "rank 2 op 7: failed: peer lost, culprit undetermined");
}

/// What a log of this level writes of a warning, a lost peer and a completed op.
std::string written_at(LogLevel level) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  Log log(level, ends[1]);
  log.warn("HOCKET_X is odd");
  log.record(kLost);
  log.record(kCompleted);
  close(ends[1]);
  char text[1'000];
  std::string all;
  for (ssize_t n; (n = read(ends[0], text, sizeof(text))) > 0;)
    all.append(text, static_cast<std::size_t>(n));
  close(ends[0]);
  return all;
}

TEST(Log, WritesWhatItsLevelAllows) {
  EXPECT_EQ(written_at(LogLevel::none), "");
  EXPECT_EQ(written_at(LogLevel::warn),
            "hocket: HOCKET_X is odd\nhocket: rank 2: peer 3 is lost\n");
  EXPECT_EQ(written_at(LogLevel::trace),
            "hocket: HOCKET_X is odd\nhocket: rank 2: peer 3 is lost\n"
            "hocket: rank 2 op 7: completed after 1234 ns\n");
}

TEST(Log, ALineThatCannotBeWrittenIsLost) {
  Log log(LogLevel::warn, -1);
  log.warn("unheard");
}

}  // namespace
}  // namespace hocket::host
