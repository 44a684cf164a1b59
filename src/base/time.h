// SPDX-License-Identifier: Apache-2.0
// Time as values. Instant and Duration are integer nanoseconds and are all that the engine knows;
// an Instant counts from an origin that only its Clock defines. Picoseconds are for models (price,
// simulator), where sums must agree exactly.
#pragma once
#include <compare>
#include <cstdint>

namespace hocket {

using Picoseconds = std::uint64_t;

struct Duration {
  std::int64_t ns = 0;
  constexpr auto operator<=>(const Duration&) const = default;
};
constexpr Duration nanoseconds(std::int64_t n) { return {n}; }
constexpr Duration microseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Duration milliseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000'000}; }
/// Longer than any machine runs; adding it to an Instant gives kNever.
inline constexpr Duration kForever{INT64_MAX};

struct Instant {
  std::int64_t ns = 0;
  constexpr auto operator<=>(const Instant&) const = default;
};
inline constexpr Instant kNever{INT64_MAX};

/// Saturates at kNever.
constexpr Instant operator+(Instant at, Duration d) {
  return d.ns > INT64_MAX - at.ns ? kNever : Instant{at.ns + d.ns};
}
constexpr Duration operator-(Instant a, Instant b) { return {a.ns - b.ns}; }

}  // namespace hocket
