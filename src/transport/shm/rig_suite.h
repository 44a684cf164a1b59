// SPDX-License-Identifier: Apache-2.0
// What the tests of shared memory have in common: the parts of an operating system process, ranks
// in threads, and children that are processes.
// Threads: a rig from several, as its node. Ownership: see each.
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "host/clock.h"
#include "host/random.h"
#include "transport/shm/network.h"

namespace hocket::transport::shm {

/// What one operating system process has.
struct Rig {
  explicit Rig(const Options& options = {}) : node(clock, random, options), network(node) {}
  host::Clock clock;
  host::Random random;
  Node node;
  Network network;

  world::UniqueId make_id() {
    world::UniqueId id;
    EXPECT_TRUE(random.fill({id.data(), id.size()}));
    return id;
  }
  world::Join join_of(const world::UniqueId& id, std::uint32_t rank, std::uint32_t world,
                      Duration patience = seconds(30)) {
    return {.id = id,
            .rank = Rank{rank},
            .world = world,
            .slice_bytes = 1 << 17,
            .channels = 3,
            .deadline = clock.now() + patience};
  }
};

using Joined = Result<std::unique_ptr<world::Endpoint>>;

inline world::Waiter waiter_of(Rank owner, Rank peer, world::Port port) {
  world::Waiter waiter;
  waiter.owner = owner;
  waiter.aim(peer, port);
  return waiter;
}

/// Until the port is ready; false after `limit`.
inline bool wait_until_ready(world::Endpoint& endpoint, world::Waiter& waiter,
                             Duration limit = seconds(30)) {
  host::Clock clock;
  const Instant deadline = clock.now() + limit;
  while (!endpoint.fabric().ready(waiter)) {
    static_cast<void>(endpoint.membership().failure());
    if (clock.now() > deadline) return false;
    ::sched_yield();
  }
  return true;
}

/// A small message and a large one to the next rank of the ring, and from the one before.
inline std::string pass_on(world::Endpoint& endpoint, Rank me, std::uint64_t size = 1 << 17) {
  const std::uint32_t n = endpoint.topology()->world();
  world::Waiter out = waiter_of(me, Rank{(me.value + 1) % n}, world::Port::staged);
  world::Waiter in = waiter_of(me, Rank{(me.value + n - 1) % n}, world::Port::arrival);
  for (const std::uint64_t bytes : {std::uint64_t{4}, size}) {
    const std::string text(bytes, static_cast<char>('a' + me.value % 26));
    const std::string expected(bytes, static_cast<char>('a' + (me.value + n - 1) % n % 26));
    if (!wait_until_ready(endpoint, out)) return "no credit";
    auto written =
        endpoint.fabric().write(out, {{reinterpret_cast<const std::byte*>(text.data()), bytes}, 0});
    if (!written) return written.error().text();
    if (!wait_until_ready(endpoint, in)) return "no arrival";
    std::string arrived(bytes, 0);
    auto landed = endpoint.fabric().land(in, {reinterpret_cast<std::byte*>(arrived.data()), bytes});
    if (!landed) return landed.error().text();
    endpoint.fabric().pop(in);
    if (arrived != expected) return "wrong bytes";
    world::Waiter drained = waiter_of(me, kNobody, world::Port::drained);
    if (!wait_until_ready(endpoint, drained)) return "not drained";
  }
  return "";
}

/// To standard error, in one piece.
inline void say(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Runs `main()`, which returns a text, "" for good, in a child process, and ends it there.
template <class Main>
class Child {
 public:
  explicit Child(Main main) {
    std::fflush(nullptr);
    if ((pid_ = ::fork()) != 0) return;
    const std::string complaint = main();
    say(complaint);
    std::fflush(nullptr);
    ::_exit(complaint.empty() && !::testing::Test::HasFailure() ? 0 : 1);
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ > 0) end();
  }
  pid_t pid() const { return pid_; }
  void kill() { ::kill(pid_, SIGKILL); }
  /// Waits for its end; its status.
  int end() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace hocket::transport::shm
