// SPDX-License-Identifier: Apache-2.0
#include "transport/conformance/perform.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "transport/conformance/driver.h"

namespace hocket::transport::conformance {
namespace {

// For a machine with more to do than cores to do it.
constexpr Duration kLimit = seconds(60);

class RealTime final : public Driver {
 public:
  using Driver::Driver;

 private:
  void rest() override { ::sched_yield(); }
};

class Mortal final : public Player {
 public:
  using Player::Player;

 private:
  void die() override { ::raise(SIGKILL); }
};

struct World {
  const Traits& traits;
  Script& script;
  std::uint32_t ranks = 1, ranks_per_node = 0;
  world::UniqueId id{};
};

Result<std::unique_ptr<world::Endpoint>> join(Site& site, const World& world, Rank rank) {
  const world::Join join{.id = world.id,
                         .rank = rank,
                         .world = world.ranks,
                         .ranks_per_node = world.ranks_per_node,
                         .slice_bytes = world.traits.slice_bytes,
                         .channels = world.traits.channels,
                         .deadline = site.clock().now() + kLimit};
  return site.network().join(join);
}

template <class Kind>
Outcome::Part play_alone(Site& site, const World& world, Rank rank) {
  auto endpoint = join(site, world, rank);
  if (!endpoint) return {.failure = endpoint.error().text()};
  const Player::Parts parts{rank, **endpoint, site.clock(), world.traits};
  RealTime driver(site.clock());
  driver.add(std::move(*endpoint), std::make_unique<Kind>(parts), world.script);
  driver.drive_until_done(kLimit);
  return driver.part(rank);
}

// Only the joins, which wait for one another, have threads.
Outcome play_in_one_thread(Site& site, const World& world) {
  Outcome outcome;
  outcome.parts.resize(world.ranks);
  std::vector<std::unique_ptr<world::Endpoint>> endpoints(world.ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < world.ranks; ++r)
    threads.emplace_back([&, r] {
      auto endpoint = join(site, world, Rank{r});
      if (endpoint) endpoints[r] = std::move(*endpoint);
      if (!endpoint) outcome.parts[r].failure = endpoint.error().text();
    });
  for (std::thread& thread : threads) thread.join();
  RealTime driver(site.clock());
  for (std::uint32_t r = 0; r < world.ranks; ++r) {
    if (endpoints[r] == nullptr) return outcome;
    const Player::Parts parts{Rank{r}, *endpoints[r], site.clock(), world.traits};
    driver.add(std::move(endpoints[r]), std::make_unique<Player>(parts), world.script);
  }
  driver.drive_until_done(kLimit);
  for (std::uint32_t r = 0; r < world.ranks; ++r) outcome.parts[r] = driver.part(Rank{r});
  return outcome;
}

Outcome play_in_threads(Site& site, const World& world) {
  Outcome outcome;
  outcome.parts.resize(world.ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < world.ranks; ++r)
    threads.emplace_back([&, r] { outcome.parts[r] = play_alone<Player>(site, world, Rank{r}); });
  for (std::thread& thread : threads) thread.join();
  return outcome;
}

// What a child has to say goes through a pipe: its report, a zero, its failure.
[[noreturn]] void play_as_child(const Transport& transport, const World& world, Rank rank,
                                int pipe) {
  Outcome::Part part;
  {
    const std::unique_ptr<Site> site = transport.open();
    part = play_alone<Mortal>(*site, world, rank);
  }
  if (::testing::Test::HasFailure()) part.failure += "expectations failed, see above; ";
  const std::string text = part.reported + '\0' + part.failure;
  const bool is_told = ::write(pipe, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  std::fflush(nullptr);
  ::_exit(is_told ? 0 : 1);
}

Outcome::Part wait_for_child(pid_t child, int pipe) {
  std::string text;
  char part[4096];
  for (ssize_t size; (size = ::read(pipe, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  ::close(pipe);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return {.died = true};
  const std::size_t end = text.find('\0');
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || end == std::string::npos)
    return {.failure = "the child ended with status " + std::to_string(status)};
  return {.failure = text.substr(end + 1), .reported = text.substr(0, end)};
}

Outcome play_in_processes(const Transport& transport, const World& world) {
  std::fflush(nullptr);
  std::vector<pid_t> children;
  std::vector<int> pipes;
  for (std::uint32_t r = 0; r < world.ranks; ++r) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    children.push_back(::fork());
    if (children.back() == 0) {
      ::close(ends[0]);
      for (const int pipe : pipes) ::close(pipe);
      play_as_child(transport, world, Rank{r}, ends[1]);
    }
    ::close(ends[1]);
    pipes.push_back(ends[0]);
  }
  Outcome outcome;
  for (std::uint32_t r = 0; r < world.ranks; ++r)
    outcome.parts.push_back(wait_for_child(children[r], pipes[r]));
  return outcome;
}

class RealConfiguration final : public Configuration {
 public:
  RealConfiguration(Traits traits, Cast cast, std::unique_ptr<Transport> transport)
      : traits_(std::move(traits)), cast_(cast), transport_(std::move(transport)) {}

  const Traits& traits() const override { return traits_; }
  Outcome perform(Script& script, std::uint32_t ranks, std::uint32_t ranks_per_node) override {
    const std::unique_ptr<Site> site = transport_->open();
    const World world{traits_, script, ranks, ranks_per_node, site->make_id()};
    if (cast_ == Cast::one_thread) return play_in_one_thread(*site, world);
    if (cast_ == Cast::threads) return play_in_threads(*site, world);
    return play_in_processes(*transport_, world);
  }

 private:
  const Traits traits_;
  const Cast cast_;
  const std::unique_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Configuration> make_configuration(Traits traits, Cast cast,
                                                  std::unique_ptr<Transport> transport) {
  return std::make_unique<RealConfiguration>(std::move(traits), cast, std::move(transport));
}

}  // namespace hocket::transport::conformance
