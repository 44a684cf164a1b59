// SPDX-License-Identifier: Apache-2.0
#include "api/runtime.h"

namespace hocket::api {

namespace {

transport::shm::Options shm_options(const host::Config& config) {
  transport::shm::Options options;
  options.credits = config.shm_credits;
  options.staged_bytes = config.shm_staged_bytes;
  options.cross_memory = config.shm_cross_memory;
  return options;
}

}  // namespace

Machine::Machine(const host::Config& c) : config(c), node(clock, random, shm_options(c)) {}

Result<Cuda*> Machine::open_cuda() {
  const std::lock_guard lock(cuda_lock_);
  if (cuda_ != nullptr) return cuda_.get();
  TRY(const cuda::Driver driver, cuda::Driver::open());
  auto opened = std::make_unique<Cuda>(driver);
  TRY_VOID(random.fill({reinterpret_cast<std::byte*>(&opened->mark), sizeof opened->mark}));
  cuda_ = std::move(opened);
  return cuda_.get();
}

Runtime::Runtime(Private, Machine& machine)
    : machine_(machine),
      network_(machine.node),
      process_(machine.clock, callers_, progress_),
      thread_(process_) {}

Runtime::~Runtime() = default;

Result<std::unique_ptr<Runtime>> Runtime::make(Machine& machine) {
  auto runtime = std::make_unique<Runtime>(Private{}, machine);
  TRY_VOID(runtime->thread_.start());
  return runtime;
}

Result<std::shared_ptr<const algo::Tuning>> Runtime::tuning(algo::Agreed agreed) {
  constexpr std::size_t kKept = 32;
  const std::lock_guard lock(tunings_lock_);
  for (const auto& known : tunings_)
    if (known->agreed() == agreed) return known;
  TRY(std::shared_ptr<const algo::Tuning> made, algo::Tuning::make(std::move(agreed)));
  if (tunings_.size() == kKept) tunings_.erase(tunings_.begin());
  tunings_.push_back(made);
  return made;
}

world::World Runtime::world_of(world::Endpoint& endpoint, world::TraceSink& trace) {
  return {endpoint.fabric(), endpoint.membership(), device_, machine_.clock, trace,
          process_.arena()};
}

}  // namespace hocket::api
