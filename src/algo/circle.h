// SPDX-License-Identifier: Apache-2.0
// What algorithms are written over. A Circle is a set of ranks at equal distances, seen by one of
// them: the whole world, the ranks of a node, or those of one seat in every node. Member i owns the
// `width` blocks from i * width on of the circle's cycle of blocks. A phase (phases/) is a function
// of a Circle and its own round number; Phases strings phases together. So an algorithm is a few
// lines, any world size is the Circle's arithmetic, and two_level composes any two.
//
// Threads, ownership: values. Cost: additions; no division on the way of a round.
#pragma once
#include <bit>
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo {

/// Rounds in which something doubles from 1 to n or beyond.
constexpr std::uint32_t log2_ceil(std::uint32_t n) {
  return n < 2 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
}

constexpr Fold fold_with(Buffer buffer) {
  if (buffer == Buffer::input) return Fold::input;
  return buffer == Buffer::output ? Fold::output : Fold::scratch;
}

struct Circle {
  std::uint32_t size, me;  ///< members, and which of them is asking
  std::uint32_t first = 0, stride = 1;
  std::uint32_t base = 0, width = 1;

  /// The member `d` further on, or back; d <= size.
  std::uint32_t hop(std::uint32_t d) const { return me + d < size ? me + d : me + d - size; }
  std::uint32_t back(std::uint32_t d) const { return me >= d ? me - d : me + size - d; }
  Rank rank(std::uint32_t member) const { return Rank{first + member * stride}; }
  /// What members i, i + 1, ... own, `members` of them.
  Range blocks(std::uint32_t i, std::uint32_t members, Buffer buffer) const {
    return {i * width, members * width, base, size * width, buffer};
  }
};

inline Circle everyone(const At& at) { return {at.topology.world(), at.me.value}; }

struct Sending {
  std::uint32_t to;  ///< a member
  Range blocks;
  std::uint32_t after = 0;  ///< Exchange::after, within the phase
};
struct Receiving {
  std::uint32_t from;  ///< a member
  Range blocks;
};

/// An arrival that lands at the same positions where it came from.
inline Exchange land(const Circle& c, const Sending& out, const Receiving& in) {
  Exchange x;
  x.to = c.rank(out.to);
  x.from = c.rank(in.from);
  x.out = out.blocks;
  x.in = in.blocks;
  x.lands = out.blocks.first;
  x.after = out.after;
  return x;
}

/// The same, but the arrival is added to the same blocks of `operand`.
inline Exchange fold(const Circle& c, const Sending& out, const Receiving& in, Buffer operand) {
  Exchange x = land(c, out, in);
  x.staged = true;
  x.fold = fold_with(operand);
  return x;
}

/// A local step: `blocks` of `source` are copied to `target`. Nothing where these share memory.
inline Exchange copy(Rank me, const Range& blocks, Buffer source, Buffer target) {
  Exchange x;
  x.to = x.from = me;
  x.out = x.in = blocks;
  x.out.buffer = source;
  x.in.buffer = target;
  x.lands = blocks.first;
  return x;
}

/// Where a reduce phase finds its own operands, keeps partial sums and leaves the total.
struct Sums {
  Buffer own = Buffer::input, partial = Buffer::output, total = Buffer::output;
};

/// Finds the phase that a round belongs to:
///
///   Phases p{k};
///   Exchange x = p.take(n) ? one(c, p.k) : p.take(m) ? two(c, p.k) : Exchange{};
///   p.place(x);
///   return x;
struct Phases {
  std::uint32_t k;  ///< within the phase
  std::uint32_t start = 0, length = 0;

  bool take(std::uint32_t rounds) {
    start += length;
    k -= length;
    length = rounds;
    return k < rounds;
  }
  /// What a phase sends waits for the phases before it, unless it comes from the user's input.
  void place(Exchange& x) const {
    if (x.out.buffer != Buffer::input) x.after += start;
  }
};

}  // namespace hocket::algo
