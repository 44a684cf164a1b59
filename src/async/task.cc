// SPDX-License-Identifier: Apache-2.0
#include "async/task.h"

#include <new>

namespace hocket::internal {

void* take_frame(std::size_t size, Arena* arena) {
  const std::size_t whole = size + sizeof(FrameHeader);
  void* const memory = arena != nullptr ? arena->take(whole) : ::operator new(whole);
  auto* const header = static_cast<FrameHeader*>(memory);
  *header = {arena, whole};
  return header + 1;
}

void give_frame(void* frame) {
  FrameHeader* const header = static_cast<FrameHeader*>(frame) - 1;
  if (header->arena != nullptr) return header->arena->give(header, header->size);
  ::operator delete(header);
}

}  // namespace hocket::internal
