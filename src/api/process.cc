// SPDX-License-Identifier: Apache-2.0
#include "api/process.h"

#include <pthread.h>

#include <mutex>
#include <optional>
#include <utility>

#include "base/array.h"
#include "host/log.h"

namespace hocket::api {
namespace {

// Bytes: more than what a communicator takes in many small pieces, each of which ends the process
// if there is none.
constexpr std::size_t kAtLeast = 1 << 20;

struct Global {
  std::mutex lock;
  std::optional<host::Config> config;  // read once
  std::optional<Machine> machine;
  std::unique_ptr<Runtime> runtime;
  std::uint32_t users = 0;
  bool fork_watched = false;
  Word forked;
};

/// Never ends: who leaves by exit() may have communicators, and its other threads may be using
/// them.
union Immortal {
  Global global;
  constexpr Immortal() : global() {}
  ~Immortal() {}
};

Immortal immortal;  // NOLINT: the one
Global& global = immortal.global;

// A fork waits until no runtime is being made or ended. In its child the parent's communicators are
// not its own; the runtime is left as it is, since its thread does not exist there.
void before_fork() { global.lock.lock(); }
void after_fork_in_parent() { global.lock.unlock(); }
void after_fork_in_child() {
  if (global.users > 0) global.forked.store(1);
  global.lock.unlock();
}

Result<void> read_config() {
  if (global.config) return kOk;
  TRY(const host::Environment environment, host::read_environment());
  host::Log log(environment.config.log);
  for (const std::string& warning : environment.warnings) log.warn(warning);
  global.config = environment.config;
  return kOk;
}

Result<Runtime*> acquire() {
  const std::lock_guard lock(global.lock);
  if (global.runtime == nullptr) {
    TRY_VOID(read_config());
    if (!std::exchange(global.fork_watched, true))
      pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    global.machine.emplace(*global.config);
    TRY(global.runtime, Runtime::make(*global.machine));
  }
  ++global.users;
  return global.runtime.get();
}

void release() {
  const std::lock_guard lock(global.lock);
  if (--global.users > 0) return;
  global.runtime.reset();
  global.machine.reset();
}

}  // namespace

Result<std::unique_ptr<hocket_comm>> create_comm(const CommArguments& arguments) {
  if (forked())
    return Error(Code::invalid_usage,
                 "hocket_comm_create: the parent of this process had communicators when it forked; "
                 "a child that is to have its own calls exec first");
  if (!is_memory_left(kAtLeast)) return Error::no_memory();
  TRY(Runtime * runtime, acquire());
  Result<std::unique_ptr<hocket_comm>> made = hocket_comm::create(*runtime, arguments);
  if (!made) release();
  return made;
}

void destroy_comm(std::unique_ptr<hocket_comm> comm) {
  comm.reset();
  release();
}

Result<void> make_id(hocket_id& id) {
  return host::Random().fill({reinterpret_cast<std::byte*>(id.bytes), sizeof id.bytes});
}

bool forked() { return global.forked.load() != 0; }

}  // namespace hocket::api
