// SPDX-License-Identifier: Apache-2.0
// The rounds of a plan under the link model of topo/costs.h: when each message is handed over,
// leaves, arrives and is taken, each the latest of what it waits for plus its own cost. Servers
// (CPU, ports, compute) take requests in order of time, so that is the order in which it is
// evaluated. Only ranks 0..period-1 are followed; rank r does at all times what rank r % period
// does, turned by r - r % period. Of the rounds, an evenly spread part may stand for all. It knows
// neither fabric nor executor, which is why agreement with the simulator means something. Threads:
// one. Cost: a heap operation or two a message; memory O(messages in flight + period).
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plan/plan.h"
#include "plan/slices.h"

namespace hocket::internal {

/// A time, and the chain of causes that led to it by kind; the parts add up to `at`.
struct Moment {
  Picoseconds at = 0, alpha = 0, beta = 0, gamma = 0, cpu = 0;

  Moment plus(Picoseconds Moment::* kind, Picoseconds amount) const {
    Moment sum = *this;
    sum.at += amount;
    sum.*kind += amount;
    return sum;
  }
};
inline const Moment& later(const Moment& a, const Moment& b) { return a.at < b.at ? b : a; }

/// avg divides floats before the rounds and integers after them, in the whole buffer each time
/// (engine/work.h); all other ops divide nothing.
bool averages(const Plan& plan);

struct Followed {
  std::uint32_t period = 1;       ///< divides the world
  std::uint32_t rounds = 0;       ///< at most the plan's
  std::uint32_t slice_bytes = 0;  ///< a longer message costs the CPU as much as such slices
  /// Ranks are not quite alike: a range is one stretch of equal blocks for all, wherever it wraps.
  bool smooth = false;
};

class Recurrence {
 public:
  Recurrence(const Plan& plan, const Costs& costs, const Followed& followed);
  /// When the last followed rank has done its part. Once.
  Moment run();
  /// Two messages reached one port at one instant: what followed depended on who was asked first.
  bool tied() const { return tied_; }
  /// A message had to wait for a credit. It was not made to: what followed is too early.
  bool starved() const { return starved_; }
  /// All that was waited for came.
  bool complete() const;

 private:
  /// A sender's or a receiver's place: pieces of its channel, their rounds, their slices.
  struct Cursor {
    Exchange exchange;
    Slices slices;           // unless smooth
    std::uint64_t left = 0;  // bytes of the range, if smooth
    bool signal = false;
    std::uint32_t piece, round = 0;
    std::uint32_t base = 0;  // rounds of the pieces before this one
  };
  struct Arrival {
    Rank from;
    Moment at;
  };
  struct Credits {  // of a link, at its sender
    std::size_t sent = 0, back = 0;
    std::vector<Picoseconds> times{};  // when each comes back, as far as that is known
  };
  struct Lane {  // of one rank and channel
    std::uint32_t rank, channel;
    Cursor out, in;
    std::uint32_t received = 0;   // rounds, over all pieces
    bool sender_waits = false;    // for rounds
    bool receiver_waits = false;  // for a first byte
    bool folding = false;
    Moment send_at{}, receive_at{};  // what the pending event of either is
    std::vector<Arrival> arrivals{};
    std::size_t gone = 0;                                  // of arrivals: taken
    std::unordered_map<std::uint32_t, Credits> credits{};  // by receiver; looked up only
  };
  struct Server {  // a rank's
    Moment cpu, compute, egress[kLinkClasses], ingress[kLinkClasses];
    Picoseconds newest[kLinkClasses] = {};  // first byte at the port
  };
  struct Message {  // between its departure and its first byte
    std::uint32_t lane;
    Rank from;
    LinkClass link;
    std::uint64_t bytes;
    Moment first_byte;
  };
  enum class Kind : std::uint8_t { first_byte, send, receive };
  struct Event {
    std::uint64_t key, tie;                     // time and kind; at one instant by the smaller rank
    std::uint32_t index;                        // of a message or a lane
    bool operator<(const Event& other) const {  // for a heap of the earliest
      return key != other.key ? key > other.key : tie > other.tie;
    }
  };

  Cursor cursor(std::uint32_t channel) const;
  bool more(const Cursor& at) const { return at.piece < plan_.pieces && followed_.rounds > 0; }
  void next(Lane& lane, Cursor& at) const;
  void settle(const Lane& lane, Cursor& at, bool out) const;
  bool more_slices(const Cursor& at) const {
    return followed_.smooth ? at.left > 0 || at.signal : at.slices.more();
  }
  std::uint64_t slice(const Cursor& at) const {
    return followed_.smooth ? std::min<std::uint64_t>(at.left, plan_.slice_bytes)
                            : at.slices.size();
  }
  void next_slice(Cursor& at) const;
  std::uint32_t needs(const Cursor& at) const;

  void start(std::uint32_t rank);
  Moment finish(std::uint32_t rank) const;
  void send(Lane& lane, Picoseconds now);
  void hand_over(Lane& lane, const Cursor& at, LinkClass link);
  void take_credit(Lane& lane, Rank to, Picoseconds now);
  void give_credit(const Lane& lane, Rank from);
  void reach_port(std::uint32_t index);
  void receive(Lane& lane, Picoseconds now);
  void done_with_slice(Lane& lane);
  bool take(Lane& lane, Picoseconds now);
  void spend(Moment& cpu, std::uint64_t bytes) const;
  const Moment* arrival(const Lane& lane, Rank from) const;
  static void forget(Lane& lane, const Moment& arrival);
  bool same_memory(const Exchange& x) const;
  bool compute(Lane& lane, std::uint64_t bytes);
  void push(Kind kind, Picoseconds time, std::uint64_t tie, std::uint32_t index);

  /// Rank `other` as `rank % period` knows it, who does what `rank` does.
  Rank seen_by(Rank rank, Rank other) const;

  const Plan& plan_;
  const Costs& costs_;
  const Followed followed_;
  std::vector<Piece> pieces_;
  std::vector<Lane> lanes_;  // [rank * channels + channel]
  std::vector<Server> servers_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;  // of messages_
  std::vector<Event> events_;        // a heap
  bool tied_ = false, starved_ = false;
};

}  // namespace hocket::internal
