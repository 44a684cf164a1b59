// SPDX-License-Identifier: Apache-2.0
// What a process has while it has communicators: the real world, put together once. The only place
// that builds one. Threads: all. Ownership: `Runtime` owns all its parts and the progress thread;
// communicators go before it. Failure: creation fails with system. Cost: two threads a process in
// all, however many communicators: the caller's and this one.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "algo/select.h"
#include "base/result.h"
#include "device/cpu/cpu_device.h"
#include "device/cuda/member.h"
#include "engine/process.h"
#include "host/clock.h"
#include "host/config.h"
#include "host/doorbell.h"
#include "host/progress_thread.h"
#include "host/random.h"
#include "transport/shm/network.h"

namespace hocket::api {

/// The GPUs of this process, once somebody asked for them.
struct Cuda {
  explicit Cuda(const cuda::Driver& d) : driver(d), contexts(driver) {}
  const cuda::Driver driver;
  cuda::Contexts contexts;
  cuda::ProcessMark mark{};
};

/// What all runtimes of one operating system process share; a program has one, a test one for ten.
struct Machine {
  explicit Machine(const host::Config& config);
  /// Fails with unsupported where there is no driver or no device.
  Result<Cuda*> open_cuda();
  const host::Config& config;
  host::Clock clock;
  host::Random random;
  transport::shm::Node node;

 private:
  std::mutex cuda_lock_;
  std::unique_ptr<Cuda> cuda_;
};

class Runtime {
 public:
  static Result<std::unique_ptr<Runtime>> make(Machine& machine);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const host::Config& config() const { return machine_.config; }
  world::Clock& clock() { return machine_.clock; }
  world::Network& network() { return network_; }
  engine::Process& process() { return process_; }
  Result<Cuda*> cuda() { return machine_.open_cuda(); }
  /// For all communicators that agreed on the same one and the same, as its tables take
  /// milliseconds to make.
  Result<std::shared_ptr<const algo::Tuning>> tuning(algo::Agreed agreed);
  /// The world of the rank that these two belong to.
  world::World world_of(world::Endpoint& endpoint, world::TraceSink& trace);

 private:
  struct Private {};  // make() alone can name it

 public:
  Runtime(Private, Machine& machine);

 private:
  Machine& machine_;
  std::mutex tunings_lock_;
  std::vector<std::shared_ptr<const algo::Tuning>> tunings_;  // few: worlds differ by their splits
  host::Doorbell callers_, progress_;
  transport::shm::Network network_;
  cpu::CpuDevice device_;
  engine::Process process_;
  host::ProgressThread thread_;
};

}  // namespace hocket::api
