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

}  // namespace hocket
