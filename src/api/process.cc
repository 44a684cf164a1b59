// SPDX-License-Identifier: Apache-2.0
#include "api/process.h"

#include <pthread.h>

#include <mutex>
#include <optional>
#include <utility>

#include "host/log.h"

namespace hocket::api {
namespace {

struct Global {
  std::mutex lock;
  std::optional<host::Config> config;  // read once
  std::optional<Machine> machine;
  std::unique_ptr<Runtime> runtime;
  std::uint32_t users = 0;
  bool fork_watched = false;
  Word forked;
};

Global global;  // NOLINT: the one

/// In the child of a fork: its parent's communicators are not its own. The runtime is left as it
/// is, since its thread does not exist here.
void after_fork() {
  if (global.users > 0) global.forked.store(1);
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
    if (!std::exchange(global.fork_watched, true)) pthread_atfork(nullptr, nullptr, after_fork);
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
                 "this process was forked from one that had communicators; exec first");
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
