// SPDX-License-Identifier: Apache-2.0
#include "host/clock.h"

#include <time.h>

namespace hocket::host {
namespace {

std::int64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);  // cannot fail
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Clock::Clock() : origin_ns_(monotonic_ns()) {}

Instant Clock::now() { return {monotonic_ns() - origin_ns_}; }

}  // namespace hocket::host
