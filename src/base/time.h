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
/// Longer than any machine runs; adding it to an Instant gives kNever.
inline constexpr Duration kForever{INT64_MAX};

/// n >= 0 units of so many nanoseconds; saturates at kForever, since users choose timeouts.
constexpr Duration units_of(std::int64_t ns, std::int64_t n) {
  return n > INT64_MAX / ns ? kForever : Duration{n * ns};
}
constexpr Duration nanoseconds(std::int64_t n) { return {n}; }
constexpr Duration microseconds(std::int64_t n) { return units_of(1'000, n); }
constexpr Duration milliseconds(std::int64_t n) { return units_of(1'000'000, n); }
constexpr Duration seconds(std::int64_t n) { return units_of(1'000'000'000, n); }

struct Instant {
  std::int64_t ns = 0;
  constexpr auto operator<=>(const Instant&) const = default;
};
inline constexpr Instant kNever{INT64_MAX};

/// Saturates at kNever; `at` is not negative.
constexpr Instant operator+(Instant at, Duration d) {
  return d.ns > INT64_MAX - at.ns ? kNever : Instant{at.ns + d.ns};
}
constexpr Duration operator-(Instant a, Instant b) { return {a.ns - b.ns}; }

}  // namespace hocket
