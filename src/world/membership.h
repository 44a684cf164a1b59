// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator know of one another beside the user's bytes: who has entered
// which op, who is gone, and the one failure that all of them agree on. On a node it is a board in
// shared memory; across nodes it will be the control tree.
// Threads: whoever holds the baton. Failure: reporting one is its business; it has none of its own.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "base/ids.h"

namespace hocket::world {

/// Ranks that have not entered an op: all are counted, the first few are named.
struct Missing {
  static constexpr std::uint32_t kNamed = 8;
  std::array<Rank, kNamed> ranks{};
  std::uint32_t count = 0;  ///< ranks[i] is valid for i < min(count, kNamed)
};

struct Failure {
  Code code = Code::peer_lost;
  Rank culprit = kNobody;   ///< who broke the communicator; kNobody: undetermined
  Rank reporter = kNobody;  ///< who found out first
  OpSeq op;                 ///< the reporter's op at that time
  bool operator==(const Failure&) const = default;
};

class Membership {
 public:
  /// Asked only on failing paths.
  virtual Missing missing(OpSeq op) = 0;
  /// Publishes; returns the communicator's first failure, which may be somebody else's.
  virtual Failure fail(const Failure& mine) = 0;
  /// The first failure, once there is one. Cheap: asked in every turn of a wait. Also finds out,
  /// now and then, whether a peer's process is gone.
  virtual std::optional<Failure> failure() = 0;
  /// The same after a look at every peer, where that is more: for who asks rarely, at a system call
  /// a peer.
  virtual std::optional<Failure> look() { return failure(); }

 protected:
  ~Membership() = default;
};

}  // namespace hocket::world
