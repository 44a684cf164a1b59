// SPDX-License-Identifier: Apache-2.0
// One rank's part of a buffer as units of 8 or 16 bytes, and how threads share them out.
//
// A unit that is whole and lies aligned is one access, and a thread has kTile of them in flight.
// The rest, which is the last unit or, where the part is misaligned, all of them, go one by one
// and slowly, in code of their own: the common case then needs one comparison a unit.
//
// Threads: none. Ownership: borrows the buffer.
#pragma once
#include <cstdint>

#include "device/kernels/kernel.h"
#include "world/swap.h"

namespace hocket::kernels {

/// Units `step` apart, as many as come before `end`. kWhole: all of them are whole and aligned.
template <std::uint32_t kUnits, bool kWhole>
struct Tile {
  static constexpr std::uint32_t kCount = kUnits;
  static constexpr bool kIsWhole = kWhole;
  std::uint32_t first = 0, step = 0, end = 0;

  HOCKET_DEVICE std::uint32_t unit(std::uint32_t u) const { return first + u * step; }
  HOCKET_DEVICE bool has(std::uint32_t u) const { return unit(u) < end; }
};

/// Units of every part.
struct Window {
  std::uint32_t begin = 0, end = 0;
};

/// The units that one thread of a launch handles: of every part, in every phase, the same ones.
class Share {
 public:
  static constexpr std::uint32_t kTile = 4;

  HOCKET_DEVICE Share(std::uint32_t first, std::uint32_t step) : first_(first), step_(step) {}
  template <class Thread>
  HOCKET_DEVICE explicit Share(const Thread& thread)
      : Share(thread.block() * thread.threads() + thread.thread(),
              thread.blocks() * thread.threads()) {}

  /// body(tile) for all of them among `units`, of which the first `whole` are whole, until it
  /// returns false; whether it never did.
  template <class Body>
  HOCKET_DEVICE bool each(std::uint32_t whole, std::uint32_t units, const Body& body) const {
    return each(Window{0, units}, whole, units, body);
  }
  /// The same of those that lie in the window.
  template <class Body>
  HOCKET_DEVICE bool each(const Window& window, std::uint32_t whole, std::uint32_t units,
                          const Body& body) const {
    const std::uint32_t end = units < window.end ? units : window.end;
    if (whole > end) whole = end;
    if (whole < window.begin) whole = window.begin;
    std::uint32_t i = window.begin + first_;
    for (; i < whole; i += kTile * step_) {
      if (!body(Tile<kTile, true>{i, step_, whole})) return false;
    }
    if (whole >= end) return true;
    while (i >= whole + step_) i -= step_;
    for (; i < end; i += step_) {
      if (!body(Tile<1, false>{i, step_, end})) return false;
    }
    return true;
  }

 private:
  std::uint32_t first_, step_;
};

template <class Byte, std::uint32_t kUnit>
struct Part {
  Byte* begin = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t units = 0;
  std::uint32_t whole = 0;  ///< of those, from the first on: whole and aligned

  HOCKET_DEVICE Part(Byte* at, std::uint64_t size)
      : begin(at), bytes(size), units(static_cast<std::uint32_t>((size + kUnit - 1) / kUnit)) {
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(at) % kUnit == 0;
    whole = is_aligned ? static_cast<std::uint32_t>(size / kUnit) : 0;
  }
  HOCKET_DEVICE Byte* unit(std::uint32_t i) const { return begin + std::uint64_t{kUnit} * i; }
  HOCKET_DEVICE std::uint32_t size(std::uint32_t i) const {
    const std::uint64_t left = bytes - std::uint64_t{kUnit} * i;
    return left < kUnit ? static_cast<std::uint32_t>(left) : kUnit;
  }
};

/// The units that are whole in both.
template <std::uint32_t kUnit>
HOCKET_DEVICE std::uint32_t common_whole(const Part<const std::byte, kUnit>& a,
                                         const Part<std::byte, kUnit>& b) {
  return a.whole < b.whole ? a.whole : b.whole;
}

/// What rank `rank` is sent; `size` is that of an element.
template <std::uint32_t kUnit>
HOCKET_DEVICE Part<const std::byte, kUnit> sent_part(const world::Swap& swap, std::uint32_t rank,
                                                     std::uint32_t size) {
  return {swap.input + swap.sent.begin(rank) * size, swap.sent.count(rank) * size};
}

/// Where goes what that rank sends here.
template <std::uint32_t kUnit>
HOCKET_DEVICE Part<std::byte, kUnit> received_part(const world::Swap& swap, std::uint32_t rank,
                                                   std::uint32_t size) {
  return {swap.output + swap.received.begin(rank) * size, swap.received.count(rank) * size};
}

}  // namespace hocket::kernels
