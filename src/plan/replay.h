// SPDX-License-Identifier: Apache-2.0
// One run of one channel of a plan that stands for all runs.
//
// A rank is two sequential processes, sender and receiver, joined by `after`; a message is taken in
// order of its link. That is a Kahn network: what it computes does not depend on timing. This run
// is the tightest there is: a sender goes on only when its message has been taken, as if it came in
// many slices over links of capacity one. More credits, fewer slices and messages left out because
// rounding left them empty only take waits away, so if this run ends, all do.
//
// Order is another matter: in a run with many credits a sender knows no more than what it waited
// for. Vector clocks hold that knowledge and show of each access to memory that it comes after all
// earlier ones that it could harm, in every run: a source until its message is taken, a landing
// from the moment it could be written, a fold's operand.
//
// Threads: one. Cost: some 60 ns a block moved and 50 ns a message, at 64 ranks.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/memory.h"
#include "plan/plan.h"
#include "plan/vector_clock.h"

namespace hocket::proof {

struct Fault {
  Rank rank;
  std::uint32_t round = 0;
  std::string what;
};

/// All rounds of all ranks on one channel, as the plan's function gives them.
struct Rounds {
  std::uint32_t count = 0;          ///< of each rank
  std::vector<Exchange> exchanges;  ///< rank by rank

  const Exchange& at(std::uint32_t rank, std::uint32_t k) const {
    return exchanges[std::size_t{rank} * count + k];
  }
};

class Replay {
 public:
  struct Tally {
    std::uint64_t messages = 0, entries = 0, exchanges = 0;
    std::uint32_t depth = 1;
  };

  /// Runs `pieces` pieces, one after another, of well-formed rounds. `requests`: one a rank.
  std::optional<Fault> run(const Plan& plan, std::span<const Request> requests,
                           const Rounds& rounds, std::uint32_t pieces);
  const Tally& tally() const { return tally_; }

 private:
  struct Cursor {  // of a sender or a receiver
    std::uint32_t piece = 0, round = 0;
  };
  struct State {
    Cursor sender, receiver;
    std::uint32_t after = 0;  // rounds, over all pieces, that the sender has waited for so far
    bool has_sent = false;
  };
  // A message on its way from memory to memory, or a local step.
  struct Step {
    const Exchange &sent, &received;
    std::uint32_t from, to;
    const Lane *sent_knows, *taken_knows;  // what the sender, the receiver knows by then
    std::int16_t time;                     // of the receiver
    bool lands;
  };

  void reset(std::uint32_t pieces);
  void progress(std::uint32_t rank);
  bool skip(std::uint32_t rank);
  bool can_meet(std::uint32_t from, std::uint32_t to) const;
  void meet(std::uint32_t from, std::uint32_t to);
  void step_alone(std::uint32_t rank);
  void move(const Step& step);
  bool may_move(const Step& step, std::uint32_t source, std::uint32_t target);
  bool fold(const Step& step, std::uint32_t operand, Value& arrived);
  void count_depth(std::uint32_t from, std::uint32_t to, const Exchange& sent);

  void check_ended();
  void check_result(std::uint32_t rank);
  void check_barrier();
  std::string waiting(std::uint32_t rank, bool sender) const;

  const Exchange& at(std::uint32_t rank, const Cursor& cursor) const {
    return rounds_->at(rank, cursor.round);
  }
  std::uint32_t event(const Cursor& cursor) const {
    return cursor.piece * rounds_->count + cursor.round;
  }
  bool over(const Cursor& cursor) const { return cursor.piece == pieces_; }
  void advance(Cursor& cursor) const;
  /// What the receiver of `rank` knows before its `event`.
  Lane* clock(std::uint32_t rank, std::uint32_t event);
  void fail(std::uint32_t rank, std::uint32_t round, std::string what);

  const Plan* plan_ = nullptr;
  std::span<const Request> requests_;
  const Rounds* rounds_ = nullptr;
  std::uint32_t world_ = 0, pieces_ = 0, lanes_ = 0;
  Memory memory_;
  std::vector<Lane> clocks_;
  std::vector<State> ranks_;
  std::vector<std::uint32_t> line_;  // rank, round: messages in a row before it, in piece 0
  std::vector<std::uint32_t> woken_;
  std::optional<Fault> fault_;
  Tally tally_;
};

}  // namespace hocket::proof
