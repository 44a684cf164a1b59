// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/copy.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hocket::cpu {
namespace {

#if defined(__SSE2__)
constexpr std::uint64_t kLine = 64;

// Whole lines to an aligned target, past the cache.
void copy_lines(std::byte* target, const std::byte* source, std::uint64_t lines) {
  for (; lines != 0; --lines, target += kLine, source += kLine) {
    auto* to = reinterpret_cast<__m128i*>(target);
    const auto* from = reinterpret_cast<const __m128i*>(source);
    const __m128i quarters[] = {_mm_loadu_si128(from), _mm_loadu_si128(from + 1),
                                _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3)};
    for (int i = 0; i < 4; ++i) _mm_stream_si128(to + i, quarters[i]);
  }
  // Such stores are weakly ordered: without a fence a flag set later could be seen before them.
  _mm_sfence();
}

#endif

}  // namespace

void copy(std::byte* target, const std::byte* source, std::uint64_t bytes) {
  if (bytes >= kPastCacheBytes) return copy_past_cache(target, source, bytes);
  if (target != source && bytes != 0) std::memcpy(target, source, bytes);
}

void copy_past_cache(std::byte* target, const std::byte* source, std::uint64_t bytes) {
  if (target == source || bytes == 0) return;
#if defined(__SSE2__)
  const std::uint64_t to_line = -reinterpret_cast<std::uintptr_t>(target) % kLine;
  const std::uint64_t head = std::min(to_line, bytes);
  const std::uint64_t lines = (bytes - head) / kLine;
  const std::uint64_t tail = (bytes - head) % kLine;
  std::memcpy(target, source, head);
  copy_lines(target + head, source + head, lines);
  std::memcpy(target + bytes - tail, source + bytes - tail, tail);
#else
  std::memcpy(target, source, bytes);
#endif
}

}  // namespace hocket::cpu
