// SPDX-License-Identifier: Apache-2.0
// The simulator as one more transport: every test of the conformance suite, in virtual time.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "sim/world.h"
#include "transport/conformance/configuration.h"
#include "transport/conformance/driver.h"
#include "transport/conformance/suite.h"

namespace hocket::transport::conformance {
namespace {

class SimEndpoint final : public world::Endpoint {
 public:
  SimEndpoint(sim::SimWorld& simulated, Rank rank, std::shared_ptr<const Topology> topology)
      : simulated_(simulated),
        rank_(rank),
        world_(simulated.world(rank)),
        topology_(std::move(topology)) {}
  ~SimEndpoint() override { simulated_.leave(rank_); }
  world::Fabric& fabric() override { return world_.fabric; }
  world::Membership& membership() override { return world_.membership; }
  std::shared_ptr<const Topology> topology() override { return topology_; }

 private:
  sim::SimWorld& simulated_;
  const Rank rank_;
  const world::World world_;
  const std::shared_ptr<const Topology> topology_;
};

std::shared_ptr<const Topology> topology_of(std::uint32_t ranks, std::uint32_t ranks_per_node) {
  const std::uint32_t each = ranks_per_node > 0 ? ranks_per_node : ranks;
  std::vector<NodeRun> runs;
  if (ranks >= each) runs.push_back({ranks / each, each});
  if (ranks % each > 0) runs.push_back({1, ranks % each});
  Result<Topology> made = Topology::make(std::move(runs));
  EXPECT_TRUE(made) << made.error().text();
  return std::make_shared<const Topology>(std::move(made).value());
}

/// Brings time on where nothing else does.
class Tick final : public Timer {
 private:
  void expired() override {}
};

/// The scripts start and look by themselves.
class Nobody final : public sim::Driver {
 public:
  void start(Rank) override {}
  void look(Rank) override {}
};

/// Tells the driver the time. With each turn of the driver some of it passes, also where a script
/// only counts turns, and who is to die does.
class PassingTime final : public world::Clock {
 public:
  explicit PassingTime(sim::SimWorld& world) : world_(world), clock_(world.world(Rank{0}).clock) {}
  ~PassingTime() { world_.loop().remove(tick_); }
  void buries_through(Driver& driver) { driver_ = &driver; }
  void kill(Rank rank) { dying_.push_back(rank); }

  Instant now() override {
    for (const Rank rank : std::exchange(dying_, {})) {
      world_.crash_at(rank, static_cast<Picoseconds>(clock_.now().ns) * 1'000);
      driver_->bury(rank);
    }
    if (!tick_.armed()) world_.loop().add(tick_, clock_.now() + microseconds(50));
    world_.step(nobody_);
    return clock_.now();
  }

 private:
  sim::SimWorld& world_;
  world::Clock& clock_;
  Driver* driver_ = nullptr;
  Nobody nobody_;
  Tick tick_;
  std::vector<Rank> dying_;
};

class VirtualTime final : public Driver {
 public:
  using Driver::Driver;

 private:
  void rest() override {}  // time passes anyway
};

class Mortal final : public Player {
 public:
  Mortal(const Parts& parts, PassingTime& time) : Player(parts), time_(time) {}

 private:
  void die() override { time_.kill(rank()); }
  PassingTime& time_;
};

class Simulated final : public Configuration {
 public:
  Simulated(Traits traits, Picoseconds jitter) : traits_(std::move(traits)), jitter_(jitter) {
    traits_.kills = true;
  }
  const Traits& traits() const override { return traits_; }

  Outcome perform(Script& script, std::uint32_t ranks, std::uint32_t ranks_per_node) override {
    const auto topology = topology_of(ranks, ranks_per_node);
    sim::Options options;
    options.costs.message = 300'000;
    options.costs.credits = traits_.credits;
    options.jitter = jitter_;
    options.detection = 100'000'000;
    sim::SimWorld world(topology, options);
    world::Clock& clock = world.world(Rank{0}).clock;
    PassingTime time(world);
    VirtualTime driver(time);
    time.buries_through(driver);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      auto endpoint = std::make_unique<SimEndpoint>(world, Rank{r}, topology);
      const Player::Parts parts{Rank{r}, *endpoint, clock, traits_};
      driver.add(std::move(endpoint), std::make_unique<Mortal>(parts, time), script);
    }
    driver.drive_until_done(seconds(60));
    Outcome outcome;
    for (std::uint32_t r = 0; r < ranks; ++r) outcome.parts.push_back(driver.part(Rank{r}));
    return outcome;
  }

 private:
  Traits traits_;
  const Picoseconds jitter_;
};

std::vector<Configuration*> configurations() {
  static Simulated plain({.name = "Plain"}, 0);
  static Simulated jitter({.name = "Jitter"}, 20'000'000);
  static Simulated one_credit({.name = "OneCredit", .credits = 1}, 0);
  static Simulated narrow({.name = "Narrow", .credits = 3, .slice_bytes = 64}, 5'000'000);
  static Simulated elided({.name = "Elided", .elides_payload = true}, 0);
  return {&plain, &jitter, &one_credit, &narrow, &elided};
}

INSTANTIATE_TEST_SUITE_P(Sim, Conformance, ::testing::ValuesIn(configurations()), name_of);

}  // namespace
}  // namespace hocket::transport::conformance
