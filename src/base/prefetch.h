// SPDX-License-Identifier: Apache-2.0
// Has the caches fetch memory that will be needed soon. A hint: any address will do.
#pragma once
#include <cstddef>

namespace hocket {

/// The lines of `bytes` from `at` on. The empty statement is there for g++ 12, which takes a
/// function that only prefetches for one without effect, and drops calls of it.
inline void prefetch(const void* at, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const char* const first = static_cast<const char*>(at);
  for (std::size_t line = 0; line < bytes; line += kLine) __builtin_prefetch(first + line);
  asm volatile("");
}

}  // namespace hocket
