// SPDX-License-Identifier: Apache-2.0
// Drives the voices of one or more ranks in one thread, as an engine would: resumes, polls, asks
// for failures when nothing moves. What happens when nothing moves at all is for the world to say
// (rest): real time yields, a simulator goes on to its next event.
// Threads: one. Ownership: of players, endpoints and voices; a rank's go when its voices end.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "async/task.h"
#include "base/time.h"
#include "transport/conformance/configuration.h"
#include "transport/conformance/player.h"
#include "world/clock.h"
#include "world/network.h"

namespace hocket::transport::conformance {

class Driver {
 public:
  explicit Driver(world::Clock& clock) : clock_(clock) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver();

  /// Starts the voices of a rank.
  void add(std::unique_ptr<world::Endpoint> endpoint, std::unique_ptr<Player> player,
           Script& script);
  /// False when time ran out first; whoever was not done has a failure that says so.
  bool drive_until_done(Duration limit);
  /// How the rank's part ended.
  const Outcome::Part& part(Rank rank) const;
  /// A rank has died: its voices are never resumed again.
  void bury(Rank rank);

 protected:
  virtual void rest() = 0;

 private:
  struct Part {
    std::unique_ptr<world::Endpoint> endpoint;
    std::unique_ptr<Player> player;
    std::vector<Task<void>> voices;
    Outcome::Part outcome;
    Rank rank;
  };
  bool turn(Part& part);
  static void end(Part& part);

  world::Clock& clock_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace hocket::transport::conformance
