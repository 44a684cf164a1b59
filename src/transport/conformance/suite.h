// SPDX-License-Identifier: Apache-2.0
// The suite's fixture. A transport inherits every test by one file that lists its configurations:
//
//   INSTANTIATE_TEST_SUITE_P(Shm, Conformance, ::testing::ValuesIn(configurations()), name_of);
//
// Threads: as the configuration says. Ownership: the registering file owns the configurations.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "transport/conformance/configuration.h"

namespace hocket::transport::conformance {

class Conformance : public ::testing::TestWithParam<Configuration*> {
 protected:
  const Traits& traits() const { return GetParam()->traits(); }
  std::uint64_t slice() const { return traits().slice_bytes; }

  /// Every rank must end well, or die where `victim` says so.
  Outcome perform(Script& script, std::uint32_t ranks, Rank victim = kNobody) {
    Outcome outcome = GetParam()->perform(script, ranks, 0);
    EXPECT_EQ(outcome.parts.size(), ranks);
    for (std::uint32_t r = 0; r < outcome.parts.size(); ++r) {
      EXPECT_EQ(outcome.parts[r].failure, "") << "rank " << r;
      EXPECT_EQ(outcome.parts[r].died, Rank{r} == victim) << "rank " << r;
    }
    return outcome;
  }
};

inline std::string name_of(const ::testing::TestParamInfo<Configuration*>& info) {
  return info.param->traits().name;
}

}  // namespace hocket::transport::conformance
