// SPDX-License-Identifier: Apache-2.0
// The one record that the engine writes and every analyser reads: 32 bytes, fixed layout, so that a
// ring of them in shared memory is a file format. What each field means per kind is in the table
// below; times are the clock's nanoseconds. Threads: values.
#pragma once
#include <cstdint>
#include <type_traits>

namespace hocket::trace {

enum class Kind : std::uint8_t {
  none,
  op_submitted,  ///< a: bytes, b: collective | type << 8 | reduction << 16
  op_started,    ///< a: algorithm's row, b: channels | pieces << 16
  op_completed,  ///< a: nanoseconds since submitted
  op_failed,     ///< a: code, b: culprit
  peer_late,     ///< a: nanoseconds waited, b: peer
  peer_lost,     ///< b: peer
};
inline constexpr std::uint32_t kKinds = 7;
const char* name_of(Kind kind);

struct Event {
  std::int64_t time_ns = 0;
  std::uint64_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t op = 0;    ///< low 32 bits of op_seq
  std::uint32_t rank = 0;  ///< who records
  Kind kind = Kind::none;
  std::uint8_t reserved[3] = {};
  bool operator==(const Event&) const = default;
};
static_assert(sizeof(Event) == 32 && std::is_trivially_copyable_v<Event>);

}  // namespace hocket::trace
