// SPDX-License-Identifier: Apache-2.0
// The configurations of the shared memory transport, crippled ones among them.
#include <memory>
#include <vector>

#include "host/clock.h"
#include "host/random.h"
#include "testing/sanitizers.h"
#include "transport/conformance/perform.h"
#include "transport/conformance/suite.h"
#include "transport/shm/network.h"

namespace hocket::transport::conformance {
namespace {

class ShmSite final : public Site {
 public:
  explicit ShmSite(const shm::Options& options)
      : node_(clock_, random_, options), network_(node_) {}
  world::Network& network() override { return network_; }
  world::Clock& clock() override { return clock_; }
  world::UniqueId make_id() override {
    world::UniqueId id;
    EXPECT_TRUE(random_.fill({id.data(), id.size()}));
    return id;
  }

 private:
  host::Clock clock_;
  host::Random random_;
  shm::Node node_;
  shm::Network network_;
};

class Shm final : public Transport {
 public:
  explicit Shm(const shm::Options& options) : options_(options) {}
  std::unique_ptr<Site> open() const override { return std::make_unique<ShmSite>(options_); }

 private:
  const shm::Options options_;
};

std::unique_ptr<Configuration> make(Traits traits, Cast cast, shm::Options options = {}) {
  options.credits = traits.credits;
  traits.kills = cast == Cast::processes;
  return make_configuration(std::move(traits), cast, std::make_unique<Shm>(options));
}

std::vector<std::unique_ptr<Configuration>> make_all() {
  std::vector<std::unique_ptr<Configuration>> all;
  const auto add = [&](Traits traits, Cast cast, const shm::Options& options = {}) {
    // A race detector sees threads only.
    if (!testing::kThreadSanitizer || cast == Cast::threads)
      all.push_back(make(std::move(traits), cast, options));
  };
  const shm::Options nothing_staged{.staged_bytes = 0}, refused{.cross_memory = false};
  const shm::Options strangers{.staged_bytes = 64, .share_addresses = false};
  const shm::Options refusing{.cross_memory = false, .share_addresses = false};
  add({.name = "OneThread"}, Cast::one_thread);
  add({.name = "OneThreadOneCredit", .credits = 1}, Cast::one_thread);
  add({.name = "OneThreadNothingStaged"}, Cast::one_thread, nothing_staged);
  add({.name = "OneThreadStrangers"}, Cast::one_thread, strangers);
  add({.name = "OneThreadNarrow", .slice_bytes = 64}, Cast::one_thread);
  add({.name = "Threads"}, Cast::threads);
  add({.name = "ThreadsOneCredit", .credits = 1}, Cast::threads, nothing_staged);
  add({.name = "ThreadsStrangers"}, Cast::threads, strangers);
  add({.name = "ThreadsRefused"}, Cast::threads, refusing);
  add({.name = "Processes"}, Cast::processes);
  add({.name = "ProcessesNothingStaged"}, Cast::processes, nothing_staged);
  add({.name = "ProcessesOneCredit", .credits = 1}, Cast::processes);
  add({.name = "ProcessesManyCredits", .credits = 64, .slice_bytes = 4096}, Cast::processes);
  add({.name = "ProcessesRefused"}, Cast::processes, refused);
  add({.name = "ProcessesRefusedOneCredit", .credits = 1}, Cast::processes, refused);
  add({.name = "ProcessesNarrow", .slice_bytes = 64}, Cast::processes);
  add({.name = "ProcessesMany", .slice_bytes = 2048, .most_ranks = 12}, Cast::processes);
  return all;
}

std::vector<Configuration*> configurations() {
  static const std::vector<std::unique_ptr<Configuration>> all = make_all();
  std::vector<Configuration*> pointers;
  for (const auto& one : all) pointers.push_back(one.get());
  return pointers;
}

INSTANTIATE_TEST_SUITE_P(Shm, Conformance, ::testing::ValuesIn(configurations()), name_of);

}  // namespace
}  // namespace hocket::transport::conformance
