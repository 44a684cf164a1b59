// SPDX-License-Identifier: Apache-2.0
#include "api/runtime.h"

namespace hocket::api {

// The flight recorder of this process: its last events, in memory of its own.
class Runtime::Recorder final : public world::TraceSink {
 public:
  void record(const trace::Event& event) override { ring_.record(event); }

 private:
  trace::Ring ring_;
};

Machine::Machine(const host::Config& c) : config(c), node(clock, random, shm_options(c)) {}

Runtime::Runtime(Machine& machine)
    : machine_(machine),
      network_(machine.node),
      recorder_(std::make_unique<Recorder>()),
      process_(machine.clock, callers_, progress_),
      thread_(process_) {}

Runtime::~Runtime() = default;

Result<std::unique_ptr<Runtime>> Runtime::make(Machine& machine) {
  std::unique_ptr<Runtime> runtime(std::make_unique<Runtime>(machine));
  TRY_VOID(runtime->thread_.start());
  return runtime;
}

world::World Runtime::world_of(world::Endpoint& endpoint) {
  return {endpoint.fabric(), endpoint.membership(), device_, machine_.clock,
          *recorder_,        process_.arena()};
}

}  // namespace hocket::api
