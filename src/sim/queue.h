// SPDX-License-Identifier: Apache-2.0
// What is still to happen, ordered by node: each node has a heap of its own events, and a calendar
// says in which window of time each node is next due. All events of one node within a window are
// served, then the next node's. A window is no longer than the latency between nodes, so nodes
// cannot reach one another inside it, and a node's state stays in cache: at 131,072 ranks twice as
// fast as one queue for all (docs/decisions), and several cores could share the nodes of a window.
// Threads: one. Failure: none. Cost: O(log events of the node) an event; an idle node 32 bytes.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace hocket::sim {

/// At one instant a node's events are served in this order.
enum class Kind : std::uint8_t {
  first_byte,  ///< the oldest message under way from `from` on `channel` reaches `rank`'s port
  send,        ///< what `rank`'s sender to `from` on `channel` waits for has come
  receive,     ///< what `rank`'s receiver from `from` on `channel` waits for has come
  turn,        ///< `rank` starts, or hears of a failure, or crashes: `from` says which
};

/// Whom an event is about.
struct Whom {
  Rank rank;
  ChannelId channel{0};
  Rank from{0};
};

/// A value without pointers, so that ties have an order that every build agrees on.
class Event {
 public:
  Event() = default;
  Event(Picoseconds time, Kind kind, const Whom& whom)
      : key_(time * 4 + static_cast<std::uint64_t>(kind)),
        who_(std::uint64_t{whom.from.value} << 40 | std::uint64_t{whom.rank.value} << 16 |
             whom.channel.value) {}

  Picoseconds time() const { return key_ / 4; }
  Kind kind() const { return static_cast<Kind>(key_ % 4); }
  Rank rank() const { return Rank{static_cast<std::uint32_t>(who_ >> 16 & 0xffffff)}; }
  Rank from() const { return Rank{static_cast<std::uint32_t>(who_ >> 40)}; }
  ChannelId channel() const { return ChannelId{static_cast<std::uint16_t>(who_)}; }
  /// The same thing, perhaps at another time.
  bool same(const Event& other) const { return kind() == other.kind() && who_ == other.who_; }
  bool operator<(const Event& other) const { return order() < other.order(); }

 private:
  /// One comparison without a branch: what a heap does most.
  unsigned __int128 order() const { return static_cast<unsigned __int128>(key_) << 64 | who_; }
  std::uint64_t key_ = 0, who_ = 0;
};

class Queue {
 public:
  static constexpr Picoseconds kEnd = std::numeric_limits<Picoseconds>::max();

  /// `window`: the least latency between nodes; 0 only where there is one node.
  Queue(std::uint32_t nodes, Picoseconds window);

  void push(std::uint32_t node, const Event& event);
  /// Forgets that event, whenever it is due; for failing paths, as it looks at all of the node's.
  void erase(std::uint32_t node, const Event& event);

  /// Start of the next window in which anything is due; kEnd when nothing is.
  Picoseconds next();
  /// Serves all events before `end`, which is no later than the end of that window, through
  /// serve(const Event&).
  template <class Serve>
  void run(Picoseconds end, Serve&& serve) {
    take_due();
    for (const std::uint32_t node : due_) {
      if (nodes_[node].window != now_) continue;  // served already, or due later after all
      for (Event event; pop(node, end, event);) serve(event);
      nodes_[node].window = kNever;
      enlist(node);
    }
  }
  Picoseconds window() const { return window_; }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kNear = 4096;  // windows with a bucket of their own
  struct Node {
    std::vector<Event> heap;
    std::uint64_t window = kNever;  // the earliest in which it is enlisted
  };

  bool pop(std::uint32_t node, Picoseconds end, Event& event);
  void enlist(std::uint32_t node);
  void take_due();
  void refill();

  const Picoseconds window_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> near_;  // nodes due in a window, by window % kNear
  std::vector<std::uint32_t> far_;                // nodes due later still
  std::vector<std::uint32_t> due_;                // in this window
  std::uint64_t now_ = 0;                         // number of the window
  std::uint64_t enlisted_near_ = 0;
};

}  // namespace hocket::sim
