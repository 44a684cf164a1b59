// SPDX-License-Identifier: Apache-2.0
// One rank as a test's script sees it: its endpoint, and what a coroutine may wait for. A script
// has one coroutine per voice of a rank and does not know what drives it: one thread for all ranks,
// a thread or a process for each, or virtual time.
// Threads: one at a time. Ownership: borrows endpoint and clock.
#pragma once
#include <coroutine>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "async/task.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "transport/conformance/traits.h"
#include "world/clock.h"
#include "world/network.h"

namespace hocket::transport::conformance {

class Player {
 public:
  struct Parts {
    Rank rank;
    world::Endpoint& endpoint;
    world::Clock& clock;
    const Traits& traits;
  };
  explicit Player(const Parts& parts) : parts_(parts) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  virtual ~Player() = default;

  Rank rank() const { return parts_.rank; }
  std::uint32_t ranks() const { return parts_.endpoint.topology()->world(); }
  const Traits& traits() const { return parts_.traits; }
  world::Clock& clock() { return parts_.clock; }
  world::Endpoint& endpoint() { return parts_.endpoint; }
  world::Fabric& fabric() { return parts_.endpoint.fabric(); }
  world::Membership& membership() { return parts_.endpoint.membership(); }

  world::Waiter waiter(world::Port port, std::uint32_t peer, std::uint16_t channel = 0) const {
    world::Waiter waiter;
    waiter.owner = rank();
    waiter.channel = ChannelId{channel};
    waiter.aim(Rank{peer}, port);
    return waiter;
  }

  /// co_await: until the port is ready.
  struct Ready {
    world::Fabric& fabric;
    world::Waiter& waiter;
    Ready(world::Fabric& f, world::Waiter& w) : fabric(f), waiter(w) {}
    Ready(const Ready&) = delete;
    Ready& operator=(const Ready&) = delete;
    ~Ready() {  // a script that ran out of time ends while parked
      if (waiter.parked) fabric.unpark(waiter);
    }
    bool await_ready() { return fabric.ready(waiter); }
    void await_suspend(std::coroutine_handle<> handle) {
      waiter.handle = handle;
      fabric.park(waiter);
    }
    void await_resume() const {}
  };
  Ready ready(world::Waiter& waiter) { return Ready(fabric(), waiter); }

  /// co_await: until the driver's next turn.
  struct Pause {
    Player& player;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle) { player.paused_.push_back(handle); }
    void await_resume() const {}
  };
  Pause pause() { return {*this}; }

  /// co_await: the rank dies here, without a word. Traits::kills.
  struct Death {
    Player& player;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<>) { player.die(); }
    void await_resume() const {}
  };
  Death death() { return {*this}; }

  /// Tells the test something about this rank; the last word counts.
  void report(std::string text) { reported_ = std::move(text); }
  const std::string& reported() const { return reported_; }

  /// What the driver resumes in this turn.
  std::vector<std::coroutine_handle<>> take_paused() { return std::exchange(paused_, {}); }

 private:
  /// Does not return in a process; elsewhere the rank's coroutines are never resumed again.
  virtual void die() { CHECK(false, "this configuration cannot kill"); }

  const Parts parts_;
  std::vector<std::coroutine_handle<>> paused_;
  std::string reported_;
};

/// What every rank of a world does in a test.
class Script {
 public:
  virtual ~Script() = default;
  /// How many coroutines a rank has; they run side by side.
  virtual std::uint32_t voices(Rank /*rank*/) const { return 1; }
  /// An error fails the test; so do expectations inside.
  virtual Task<void> play(Player& self, std::uint32_t voice) = 0;
};

}  // namespace hocket::transport::conformance
