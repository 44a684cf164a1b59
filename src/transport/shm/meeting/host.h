// SPDX-License-Identifier: Apache-2.0
// Rank 0's side of a meeting (meeting.h): one loop over the listening socket and all guests, first
// until every rank has a seat, then until every rank has mapped the segment. A guest that goes away
// before all are there frees its seat; after that it ends the meeting for all.
// Threads: one. Ownership: borrows the node. Cost: O(world) a wake-up.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "transport/shm/meeting/meeting.h"
#include "transport/shm/meeting/messages.h"
#include "transport/shm/meeting/secret.h"
#include "transport/shm/meeting/socket.h"
#include "transport/shm/node.h"
#include "transport/shm/place.h"
#include "world/network.h"

namespace hocket::transport::shm {

class Host {
 public:
  Host(Node& node, const world::Join& join);
  Result<Place> run();

 private:
  enum class Stage : std::uint8_t { greeted, seated, mapped, over };
  struct Guest {
    Socket socket;
    Stage stage = Stage::greeted;
    Rank rank = kNobody;
    Nonce nonce{};   // ours, for its hello
    Nonce theirs{};  // its own, for our answers
    Instant patience = kNever;
    pid_t pid = 0;
    bool has_spoken = false;  // in the last poll
  };

  Result<Place> gather();
  /// Until all guests have come to `stage`.
  Result<void> serve(Stage stage);
  void poll_once(Instant until);
  Result<void> accept_all();
  void hear(Guest& guest);
  void admit(Guest& guest, const Hello& hello);
  /// What speaks against a guest that knows the id.
  std::optional<Error> objection(const Hello& hello, pid_t pid) const;
  void refuse(Guest& guest, const Error& why);
  bool answer(const Guest& guest, Answer answer, int descriptor = -1);
  void dismiss_impatient(Instant now);
  std::uint32_t count(Stage stage) const;
  static Error gone(Rank who);
  Error missing(Stage stage) const;

  Node& node_;
  const world::Join& join_;
  const Secret secret_;
  File listener_;
  std::list<Guest> guests_;
  std::string turned_away_;    // why the last rank was that knew the id; empty: none
  std::vector<bool> gave_up_;  // by rank: it came and went at its own deadline
  bool is_open_ = true;        // guests may come and go; not once the segment is passed round
  std::optional<Rank> deserter_;
};

}  // namespace hocket::transport::shm
