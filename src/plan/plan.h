// SPDX-License-Identifier: Apache-2.0
// A plan: an algorithm bound to a topology, a request and a shape. It is a pure function of the
// round: anyone may ask for anyone's `round(rank, channel, k)`, nothing is stored per rank, and a
// cursor is one integer. Prover, pricer, simulator and executors all read this one function.
//
// Blocks are the unit of an algorithm, numbered over the whole block space (request.h). A piece is
// one run of the algorithm on a part of every block space (pipelining is not the algorithm's
// business); channel c runs pieces c, c + channels, ... in order. A slice is the unit of flow
// control (slices.h). Threads, ownership: a value, borrows algorithm and topology. Cost: round() is
// a few nanoseconds. A stored list would cost O(world) a rank, a generator 600 bytes a cursor
// (docs/decisions).
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "plan/request.h"
#include "topo/topology.h"

namespace hocket {

/// As wide as its neighbours in a Range, which so has no gaps and is taken apart into registers.
enum class Buffer : std::uint32_t { input, output, scratch };

/// The local operand that an arrival is added to; `none`: it is stored as it is.
enum class Fold : std::uint8_t { none, input, output, scratch };
/// Where it is; of a fold.
constexpr Buffer operand_of(Fold fold) {
  if (fold == Fold::input) return Buffer::input;
  return fold == Fold::scratch ? Buffer::scratch : Buffer::output;
}

/// `count` blocks of the cycle [base, base + size), from `first` on. Empty: a signal.
struct Range {
  std::uint32_t first = 0, count = 0, base = 0, size = 1;
  Buffer buffer = Buffer::output;
  std::uint32_t block(std::uint32_t i) const {  ///< i < count <= size
    const std::uint32_t at = first + i;
    return base + (at < size ? at : at - size);
  }
  bool operator==(const Range&) const = default;
};

/// The one kind of step: send `out` to `to` while `in` arrives from `from`. Half of it may be
/// missing (kNobody). to == from == me: a local step, `in` = `out`, or operand + `out` with a fold.
/// A staged message waits at the receiver, who folds it or stores it where it likes; any other
/// lands in `to`'s output at position `lands` of the same cycle, perhaps before `to` looks. Both
/// ends of a message of several blocks name the same positions of the same cycle; the two ends of
/// a single block may differ where blocks are equally long (the user's, one per rank).
struct Exchange {
  Rank to = kNobody, from = kNobody;
  Range out, in;            ///< in.buffer: output or scratch; of an arrival that lands: output
  std::uint32_t lands = 0;  ///< where out.first lands, a position like Range::first
  bool staged = false;      ///< of `out`; a signal is staged
  Fold fold = Fold::none;   ///< what becomes of the arrival; a fold needs a staged message
  /// The send waits for the arrivals and local steps of all rounds below this one; at most k.
  std::uint32_t after = 0;
  /// What `out` becomes at the receiver, unless it is staged.
  Range landing() const { return {lands, out.count, out.base, out.size, Buffer::output}; }
  bool operator==(const Exchange&) const = default;
};

struct At {  ///< the point of view an algorithm is asked from
  const Topology& topology;
  const Request& request;
  Rank me;
  ChannelId channel;
};

struct Shape {
  std::uint32_t blocks = 1, rounds = 0;
  bool operator==(const Shape&) const = default;
};

/// A name for a known structure of rounds, by which the stream executor finds its swaps. The rounds
/// stay the truth: each pattern has a canonical expansion and a row's `round` must equal it.
enum class Pattern : std::uint8_t {
  none,
  exchange_and_reduce,
  push_to_all,
  push_reduce_push,
  push_and_reduce,
  exchange_blocks,
  push_from_root,
  push_to_root,
  signal_all,
};
inline constexpr std::size_t kPatterns = 9;

/// How adds into one block are ordered: as the rounds go, or by rank (then every rank may add by
/// itself and all agree bit for bit).
enum class FoldOrder : std::uint8_t { rounds, ranks };

/// A function that a row has to name: a row without it does not compile.
template <class Function>
class Required {
 public:
  template <std::convertible_to<Function*> Given>
  constexpr Required(Given given) : function_(given) {}       // NOLINT: implicit
  constexpr operator Function*() const { return function_; }  // NOLINT: called like one

 private:
  Function* function_;
};

/// A row of a table. Every field is a claim that the prover checks; nobody writes a cost.
struct Algorithm {
  const char* name = "";
  Collective collective = Collective::all_reduce;
  Required<bool(const Topology&)> fits;
  Required<Shape(const Topology&)> shape;
  Required<Exchange(const At&, std::uint32_t k)> round;
  /// Ranks in series: 1 when all work at once, world - 1 for a chain. It is the longest line of
  /// messages of which each is its sender's first and waits for the one before. For the price.
  Required<std::uint32_t(const Topology&)> depth;
  bool scratch = false;  ///< needs scratch as long as the block space
  bool in_place = true;  ///< right when input and output share memory
  FoldOrder fold_order = FoldOrder::rounds;
  Pattern pattern = Pattern::none;
};

struct Plan {
  const Algorithm* algorithm = nullptr;
  const Topology* topology = nullptr;
  Request request;
  Shape shape;
  std::uint32_t channels = 1, pieces = 1;
  std::uint32_t slice_bytes = 1 << 19;

  Exchange round(Rank me, ChannelId channel, std::uint32_t k) const {
    return algorithm->round({*topology, request, me, channel}, k);
  }
  std::uint64_t total_bytes() const { return request.total_bytes(topology->world()); }
};

/// `algorithm` on `topology` with one channel, one piece; the caller sets the rest.
Plan make_plan(const Algorithm& algorithm, const Topology& topology, const Request& request);

}  // namespace hocket
