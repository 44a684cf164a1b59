// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/copy.h"

namespace hocket::transport::shm {

void copy_by_words(std::byte* target, const std::byte* source, std::uint64_t size) {
  // Fixed sizes become vector moves; four at once keep the compiler from making a memcpy of it.
  struct Words {
    std::uint64_t word[2];
  };
  Words block[4];
  std::uint64_t at = 0;
  for (; at + sizeof block <= size; at += sizeof block) {
    for (std::size_t i = 0; i < 4; ++i)
      std::memcpy(&block[i], source + at + i * sizeof(Words), sizeof(Words));
    for (std::size_t i = 0; i < 4; ++i)
      std::memcpy(target + at + i * sizeof(Words), &block[i], sizeof(Words));
  }
  if (at < size) std::memcpy(target + at, source + at, size - at);
}

}  // namespace hocket::transport::shm
