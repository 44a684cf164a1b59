// SPDX-License-Identifier: Apache-2.0
#include "host/clock.h"

#include <gtest/gtest.h>

#include "host/doorbell.h"

namespace hocket::host {
namespace {

TEST(Clock, StartsNearZeroAndNeverGoesBack) {
  Clock clock;
  Instant last = clock.now();
  EXPECT_GE(last, Instant{0});
  EXPECT_LT(last, Instant{0} + seconds(10));
  for (int i = 0; i < 10'000; ++i) {
    const Instant now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, CountsNanoseconds) {
  Clock clock;
  Doorbell bell;
  const Instant before = clock.now();
  bell.wait(bell.ticket(), milliseconds(20));
  const Duration passed = clock.now() - before;
  EXPECT_GE(passed, milliseconds(20));
  EXPECT_LT(passed, seconds(10));
}

}  // namespace
}  // namespace hocket::host
