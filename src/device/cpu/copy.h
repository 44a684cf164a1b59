// SPDX-License-Identifier: Apache-2.0
// Copies between host buffers, faster than memcpy into memory that no cache holds.
//
// A plain store first fetches the line that it overwrites and later evicts others. Stores that
// bypass the cache spare both: 1.4 to 2 times faster where the target is not in the cache and not
// read soon, half as fast where it is (figures in README.md). copy() decides by size; who knows
// more, because it copies the slices of something large that stays unread, calls copy_past_cache().
//
// Threads: pure. The bytes are ordered before any later store of the caller, as after memcpy.
// Ownership: borrows. Source and target may be equal (nothing moves) but not overlap otherwise.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hocket::cpu {

/// From here on source and target together leave the last-level cache of the machines measured.
inline constexpr std::uint64_t kPastCacheBytes = 16u << 20;

void copy(std::byte* target, const std::byte* source, std::uint64_t bytes);
void copy_past_cache(std::byte* target, const std::byte* source, std::uint64_t bytes);

}  // namespace hocket::cpu
