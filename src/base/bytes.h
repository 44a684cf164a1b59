// SPDX-License-Identifier: Apache-2.0
// A stretch of memory. `data` may be null while `size` is not zero: then the payload is elided, as
// the simulator does at large scale; whoever touches bytes tests for that once, at the edge.
// Ownership: borrows. Threads: values.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hocket {

struct Bytes {
  std::byte* data = nullptr;
  std::uint64_t size = 0;
};

struct ConstBytes {
  const std::byte* data = nullptr;
  std::uint64_t size = 0;
  constexpr ConstBytes() = default;
  constexpr ConstBytes(const std::byte* d, std::uint64_t s) : data(d), size(s) {}
  constexpr ConstBytes(Bytes b) : data(b.data), size(b.size) {}  // NOLINT: a view of a view
};

/// A hint: has the caches fetch the lines of `size` bytes from `at` on; any address will do. The
/// empty statement is there for g++ 12, which takes a function that only prefetches for one without
/// effect, and drops calls of it.
inline void prefetch(const void* at, std::size_t size) {
  constexpr std::size_t kLine = 64;
  const char* const first = static_cast<const char*>(at);
  for (std::size_t line = 0; line < size; line += kLine) __builtin_prefetch(first + line);
  asm volatile("");
}

}  // namespace hocket
