// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/prng.h"

namespace hocket::cpu {
namespace {

using Buffer = std::vector<std::byte>;

Buffer random_bytes(std::uint64_t size) {
  Prng random(size);
  Buffer buffer(size);
  for (std::byte& byte : buffer) byte = static_cast<std::byte>(random.next());
  return buffer;
}

using Function = void(std::byte*, const std::byte*, std::uint64_t);
constexpr Function* kFunctions[] = {copy, copy_past_cache};

void expect_copy(Function* function, std::uint64_t target_offset, std::uint64_t source_offset) {
  constexpr std::uint64_t kSpace = 1024;
  const Buffer source = random_bytes(kSpace);
  for (const std::uint64_t bytes : {0u, 1u, 2u, 63u, 64u, 65u, 127u, 128u, 200u, 512u}) {
    Buffer target(kSpace, std::byte{0xA5});
    Buffer expected = target;
    std::copy_n(&source[source_offset], bytes, &expected[target_offset]);
    function(&target[target_offset], &source[source_offset], bytes);
    ASSERT_EQ(target, expected) << bytes << ": " << source_offset << " to " << target_offset;
  }
}

TEST(Copy, MovesExactlyTheBytesNamed) {
  for (Function* const function : kFunctions) {
    for (std::uint64_t target_offset = 0; target_offset < 65; ++target_offset) {
      expect_copy(function, target_offset, 0);
      expect_copy(function, target_offset, target_offset * 7 % 64);
    }
  }
}

TEST(Copy, MovesLargeBuffers) {
  const Buffer source = random_bytes(kPastCacheBytes + 11);
  Buffer target(source.size());
  copy(target.data(), source.data(), source.size());
  EXPECT_TRUE(target == source);
}

TEST(Copy, OntoItselfAndOfNothing) {
  for (Function* const function : kFunctions) {
    Buffer buffer = random_bytes(1000);
    function(buffer.data(), buffer.data(), buffer.size());
    EXPECT_EQ(buffer, random_bytes(1000));
    function(nullptr, nullptr, 0);
  }
}

}  // namespace
}  // namespace hocket::cpu
