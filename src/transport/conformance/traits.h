// SPDX-License-Identifier: Apache-2.0
// What a configuration of a transport is like: a test that needs more than it has is skipped, and
// says so. Threads, ownership: values.
#pragma once
#include <cstdint>
#include <string>

namespace hocket::transport::conformance {

struct Traits {
  std::string name;            ///< part of the tests' names: letters, digits, _
  std::uint32_t credits = 8;   ///< messages in flight per (from, to, channel), exactly
  std::uint32_t channels = 4;  ///< at least 3
  std::uint64_t slice_bytes = 1 << 17;
  std::uint32_t most_ranks = 6;  ///< of the larger tests
  bool elides_payload = false;   ///< arrivals have no bytes
  bool kills = false;            ///< a rank can die; the others hear of it within a second
};

}  // namespace hocket::transport::conformance
