// SPDX-License-Identifier: Apache-2.0
// Claims that rows of several tables share.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plan/plan.h"

namespace hocket::algo {

inline bool fits_any(const Topology&) { return true; }

/// Depth: everybody starts at once; one after another; as in a binomial tree, where a rank's place
/// in line is the number of ones in its distance from the root.
inline std::uint32_t all_at_once(const Topology&) { return 1; }
inline std::uint32_t in_a_row(const Topology& t) { return std::max(t.world(), 2u) - 1; }
inline std::uint32_t as_a_tree(const Topology& t) {
  return std::max(static_cast<std::uint32_t>(std::bit_width(t.world())), 2u) - 1;
}

/// No name comes twice: for static_assert.
template <std::size_t kRows>
consteval bool names_differ(const Algorithm (&rows)[kRows]) {
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::string_view(rows[j].name) == rows[i].name) return false;
  return true;
}

}  // namespace hocket::algo
