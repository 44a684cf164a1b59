// SPDX-License-Identifier: Apache-2.0
// How many random cases a test runs: all of them normally, a part of them where each one is slow.
// The build sets TEST_CASES_SCALE=0.1 for tests under sanitizers. Included by tests only.
// Threads: any, provided that nobody changes the environment.
#pragma once
#include <cstdlib>

namespace hocket::testing {

/// The share of `full` cases to run here, at least one.
inline int cases(int full) {
  const char* scale = std::getenv("TEST_CASES_SCALE");
  const double share = scale == nullptr ? 1.0 : std::strtod(scale, nullptr);
  const int scaled = static_cast<int>(full * share);
  return scaled < 1 ? 1 : scaled;
}

}  // namespace hocket::testing
