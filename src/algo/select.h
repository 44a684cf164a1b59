// SPDX-License-Identifier: Apache-2.0
// Which algorithm an op takes, with how many channels, pieces and slices. Selection is a table of
// byte thresholds per collective, made from prices (plan/price.h) over powers of four, of what the
// user's rules leave; a call's own word goes before it. Only agreed inputs enter: topology, costs,
// limits and rules, the same on every rank, so ranks cannot choose apart. The price of a byte does
// not depend on its type, so neither does the table.
// Threads: any; a table is made by the first select that needs it, others wait. Ownership: Tuning
// is immutable, shared by the communicators of a topology; it owns what it was given. Failure:
// invalid_argument, naming the candidates. Cost: a select some 20 ns; a table some milliseconds,
// once per collective, whatever the world size.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/baton.h"
#include "base/result.h"
#include "base/word.h"
#include "plan/plan.h"
#include "plan/price.h"

namespace hocket::algo {

/// "Take this algorithm", for one collective or wherever it exists and fits.
struct Rule {
  std::optional<Collective> collective = {};
  std::string algorithm = {};
  std::string origin = {};  ///< who said so, for messages: "HOCKET_ALGO"
  /// Zero: whatever is cheapest. If any is set, the others are 1, one piece per channel, and the
  /// largest slice.
  std::uint32_t channels = 0, pieces = 0, slice_bytes = 0;
  bool operator==(const Rule&) const = default;
};

struct Agreed {  ///< on by all ranks
  std::shared_ptr<const Topology> topology;
  Costs costs = {};
  std::uint32_t channels = 4;              ///< most of any plan
  std::uint32_t slice_bytes = 512 * 1024;  ///< largest message
  /// Largest piece of what a rank reads more than once, so that a cache still has it the next time;
  /// 0: any. It is no matter of price, which knows no caches.
  std::uint32_t piece_bytes = 0;
  /// Of ops on streams: algorithms whose pattern the stream executor knows, others if named.
  bool on_streams = false;
  std::vector<Rule> rules = {};  ///< the last one that applies goes
  /// Of topologies by value.
  bool operator==(const Agreed& other) const;
};

enum class Reason : std::uint8_t {
  call,      ///< the call named it
  rule,      ///< a rule named it
  only,      ///< nothing else fits
  cheapest,  ///< its price
};

struct Choice {
  const Algorithm* algorithm = nullptr;
  std::uint32_t channels = 1, pieces = 1, slice_bytes = 0;
  Reason reason = Reason::cheapest;
  bool operator==(const Choice&) const = default;
};

class Tuning {
 public:
  /// Fails with invalid_argument when a rule names an algorithm that does not exist, or one that
  /// its collective does not have or that does not fit the topology.
  static Result<std::shared_ptr<const Tuning>> make(Agreed agreed);
  explicit Tuning(Agreed agreed) : agreed_(std::move(agreed)) {}  ///< for make

  const Agreed& agreed() const { return agreed_; }
  /// The rule's, or the cheapest; null algorithm: none fits. Fails with out_of_memory if there is
  /// none for a table.
  Result<Choice> choose(const Request& request) const;

 private:
  struct Threshold {
    std::uint64_t bytes;  ///< of the block space, at most
    Choice choice;
  };
  struct Table {
    Word made;
    Baton making;
    std::vector<Threshold> rows;
  };
  std::vector<Threshold> make_rows(Collective collective, bool in_place) const;

  const Agreed agreed_;
  mutable std::array<std::array<Table, 2>, kCollectives> tables_;  // not in place; in place
};

/// `forced`: the call's own algorithm. Fails with invalid_argument if what is forced does not fit
/// the topology or the request.
Result<Choice> select(const Tuning& tuning, const Request& request,
                      const Algorithm* forced = nullptr);

struct Candidate {
  Choice choice;
  Price price;
  std::string refusal;  ///< not empty: why it cannot be taken; then there is no price
};

struct Explanation {
  Choice choice;
  std::string why;                    ///< which rule fired, or how the winner won
  std::vector<Candidate> candidates;  ///< all rows of the collective, cheapest first
};

/// What select answers, and why, with each candidate's price for this very request.
Result<Explanation> explain(const Tuning& tuning, const Request& request,
                            const Algorithm* forced = nullptr);

/// `choice` as a plan.
Plan plan_of(const Choice& choice, const Topology& topology, const Request& request);

}  // namespace hocket::algo
