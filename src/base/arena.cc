// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <utility>

#include "base/check.h"

namespace hocket {

void* Arena::take(std::size_t size) {
  const std::size_t grains = (size + kGrain - 1) / kGrain;
  CHECK(size <= kLargest, "arenas are for frames and ops, not for buffers");
  Node*& head = free_[grains];
  if (head != nullptr) return std::exchange(head, head->next);
  return carve(grains * kGrain);
}

void Arena::give(void* memory, std::size_t size) {
  Node*& head = free_[(size + kGrain - 1) / kGrain];
  head = ::new (memory) Node{head};
}

void* Arena::carve(std::size_t size) {
  if (used_ + size > kBlock) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlock));
    used_ = 0;
  }
  return blocks_.back().get() + std::exchange(used_, used_ + size);
}

}  // namespace hocket
