// SPDX-License-Identifier: Apache-2.0
// What a rank knows of the others, for the proof that no access depends on timing (Fidge, Mattern,
// 1988): the component of rank p is the last event of p's receiver that happened before. Senders
// need no component: an access that a send makes ends when the message is taken.
//
// A clock is world / 8 lanes, rounded up, in memory that its user keeps; only as long as the world
// is large, and compared eight components at a time. Threads, ownership: functions on memory.
#pragma once
#include <cstdint>

namespace hocket::proof {

using Lane = std::int16_t __attribute__((vector_size(16)));
inline constexpr std::uint32_t kLane = 8;

constexpr std::uint32_t lanes_of(std::uint32_t world) { return (world + kLane - 1) / kLane; }

inline std::int16_t component(const Lane* clock, std::uint32_t rank) {
  return clock[rank / kLane][rank % kLane];
}
inline void set_component(Lane* clock, std::uint32_t rank, std::int16_t time) {
  clock[rank / kLane][rank % kLane] = time;
}

inline void join(Lane* target, const Lane* a, const Lane* b, std::uint32_t lanes) {
  for (std::uint32_t i = 0; i < lanes; ++i) target[i] = a[i] > b[i] ? a[i] : b[i];
}

/// Whether all events of `a` happened before what `b` stands for.
inline bool known(const Lane* a, const Lane* b, std::uint32_t lanes) {
  Lane later = {};
  for (std::uint32_t i = 0; i < lanes; ++i) later |= a[i] > b[i];
  using Halves = std::int64_t __attribute__((vector_size(16)));
  const Halves halves = reinterpret_cast<Halves>(later);
  return (halves[0] | halves[1]) == 0;
}

}  // namespace hocket::proof
