// SPDX-License-Identifier: Apache-2.0
// What is still to happen, ordered by node: a calendar says in which window of time each node is
// next due. All events of one node within a window are served, then the next node's. A window is no
// longer than the latency between nodes, so nodes cannot reach one another inside it, and a node's
// state stays in cache: at 131,072 ranks twice as fast as one queue for all (docs/decisions), and
// several cores could share the nodes of a window.
// A node's events of the next few windows lie as they came: its turn picks those of the window and
// sorts them. Events far away wait in a heap, so that few are looked at in vain.
// Threads: one. Failure: none. Cost: O(log events of a node's window) an event; an idle node 64
// bytes.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "base/bytes.h"
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
  /// serve(const Event&). Before, says approach(node, lead) of each node, first with lead 3, then
  /// 2, 1 and 0, every other node's turn: time to have the caches fetch it, a pointer further each
  /// time.
  template <class Serve, class Approach>
  void run(Picoseconds end, Serve&& serve, Approach&& approach) {
    take_due();
    for (std::size_t i = 0; i < due_.size(); ++i) {
      for (const std::uint32_t lead : {3u, 2u, 1u, 0u})
        if (const std::size_t ahead = i + 2 * lead + 2; ahead < due_.size())
          approach(due_[ahead], lead);
      const std::uint32_t node = due_[i];
      if (nodes_[node].next / window_ > now_) continue;  // served already, or due later after all
      open(node);
      while (served_ < open_.size() && open_[served_].time() < end) {
        const Event event = open_[served_++];
        serve(event);
      }
      close(node);
    }
  }
  template <class Serve>
  void run(Picoseconds end, Serve&& serve) {
    run(end, serve, [](std::uint32_t, std::uint32_t) {});
  }
  Picoseconds window() const { return window_; }
  /// For approach, in this order: where a node's events are; the events.
  void prefetch_node(std::uint32_t node) const { prefetch(&nodes_[node], sizeof(Node)); }
  void prefetch_events(std::uint32_t node) const {
    const std::vector<Event>& events = nodes_[node].soon;
    prefetch(events.data(), events.size() * sizeof(Event));
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kNear = 256;  // windows with a bucket of nodes
  static constexpr std::uint64_t kSoon = 8;    // windows whose events wait in no order
  struct alignas(64) Node {         // one line of cache: whoever pushes has to wait for it
    std::vector<Event> soon, late;  // late: a heap
    Picoseconds next = kEnd;        // when it is due, as the calendar knows
  };

  void open(std::uint32_t node);
  void close(std::uint32_t node);
  void enlist(std::uint32_t node, Picoseconds time);
  void take_due();
  void refill();

  const Picoseconds window_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> near_;  // nodes due in a window, by window % kNear
  std::vector<std::uint32_t> far_;                // nodes due later still
  std::vector<std::uint32_t> due_;                // in this window
  std::vector<Event> open_;                       // of the node being served, sorted,
  std::size_t served_ = 0;                        // of which so many are over
  std::uint32_t open_node_ = kNone;
  Picoseconds open_end_ = 0;  // of the open window
  std::uint64_t now_ = 0;     // its number
  std::uint64_t enlisted_near_ = 0;
};

}  // namespace hocket::sim
