// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <sanitizer/asan_interface.h>

#include <new>
#include <utility>

#include "base/check.h"

namespace hocket {

void* Arena::take(std::size_t size) {
  CHECK(size > 0 && size <= kLargest, "arenas are for frames and ops, not for buffers");
  const std::size_t grains = grains_of(size);
  Node*& head = free_[grains];
  if (head == nullptr) return carve(grains * kGrain);
  Node* const memory = head;
  head = memory->next;
  ASAN_UNPOISON_MEMORY_REGION(memory, grains * kGrain);
  return memory;
}

void Arena::give(void* memory, std::size_t size) {
  const std::size_t grains = grains_of(size);
  Node* const node = ::new (memory) Node{free_[grains]};
  free_[grains] = node;
  // AddressSanitizer then reports a frame used after its end; elsewhere this is nothing.
  ASAN_POISON_MEMORY_REGION(node + 1, grains * kGrain - sizeof(Node));
}

void* Arena::carve(std::size_t size) {
  if (used_ + size > kBlock) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlock));
    used_ = 0;
  }
  return blocks_.back().get() + std::exchange(used_, used_ + size);
}

}  // namespace hocket
