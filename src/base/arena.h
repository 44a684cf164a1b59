// SPDX-License-Identifier: Apache-2.0
// Memory for coroutine frames and ops: free lists by size class over blocks that are never given
// back while the arena lives, so that a steady state allocates nothing. One per process object; the
// simulator shares one among all ranks. A general allocator costs five times as much here and keeps
// a header a frame.
// Threads: one at a time (whoever holds the baton). Ownership: owns its blocks; outlives all
// takers. Failure: aborts when the system has no memory (small engine allocations may).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hocket {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `size` bytes aligned to 16; 1 to kLargest.
  void* take(std::size_t size);
  /// `size` as it was taken.
  void give(void* memory, std::size_t size);

  std::size_t reserved_bytes() const { return blocks_.size() * kBlock; }
  static constexpr std::size_t kLargest = 4096;

 private:
  struct Node {
    Node* next;
  };
  static constexpr std::size_t kGrain = 32, kBlock = 1 << 16;
  static std::size_t grains_of(std::size_t size) { return (size + kGrain - 1) / kGrain; }
  void* carve(std::size_t size);
  Node* free_[kLargest / kGrain + 1] = {};
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::size_t used_ = kBlock;
};

}  // namespace hocket
