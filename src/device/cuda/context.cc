// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/context.h"

#include <sched.h>

#include <algorithm>

#include "base/check.h"

namespace hocket::cuda {
namespace {

/// Takes it out, for its end outside of locks.
template <class T>
std::unique_ptr<T> take_out(std::vector<std::unique_ptr<T>>& all, const T& wanted) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.get() == &wanted; });
  std::unique_ptr<T> taken = std::move(*found);
  all.erase(found);
  return taken;
}

}  // namespace

Entered::Entered(const LoadedContext& context)
    : driver_(context.driver()),
      changes_(driver_->context.current(&before_) != Status::success ||
               before_ != context.handle()) {
  if (changes_) driver_->context.make_current(context.handle());
}

Entered::~Entered() {
  if (changes_) driver_->context.make_current(before_);
}

Within::Within(const LoadedContext& context) : entered_(context), driver_(context.driver()) {
  driver_->stream.exchange_capture_mode(&mode_);
}

Within::~Within() { driver_->stream.exchange_capture_mode(&mode_); }

// ---- a context

Result<std::unique_ptr<LoadedContext>> LoadedContext::load(const Driver& driver, Context context,
                                                           bool retained,
                                                           std::span<const Image> images) {
  auto made = std::make_unique<LoadedContext>(Private{}, driver, context, retained);
  const Within within(*made);
  TRY_VOID(driver.call(driver->context.device, &made->device_));
  char name[128] = "";
  TRY_VOID(driver.call(driver->device.name, name, sizeof name, made->device_));
  made->name_ = "device " + std::to_string(made->device_) + " (" + name + ")";
  TRY(made->module_, Module::load(driver, images));
  return made;
}

LoadedContext::~LoadedContext() {
  {
    const Within within(*this);
    module_.reset();
  }
  if (retained_) driver_->device.release_context(device_);
}

bool LoadedContext::take_large(std::uint64_t communicator) {
  const Held lock(large_.lock, ::sched_yield);
  if (large_.ranks > 0 && large_.owner != communicator) return false;
  large_.owner = communicator;
  ++large_.ranks;
  return true;
}

void LoadedContext::give_large_back() {
  const Held lock(large_.lock, ::sched_yield);
  --large_.ranks;
}

// ---- memory

DeviceMemory::~DeviceMemory() {
  if (data_ == nullptr) return;
  const Within within(*context_);
  context_->driver()->memory.free(reinterpret_cast<Address>(data_));
}

Result<void> DeviceMemory::allocate(std::uint64_t bytes) {
  const Within within(*context_);
  const Driver& driver = context_->driver();
  Address address = 0;
  TRY_VOID(driver.call(driver->memory.allocate, &address, bytes));
  data_ = reinterpret_cast<std::byte*>(address);
  return kOk;
}

// ---- all of them

Contexts::~Contexts() { CHECK(contexts_.empty() && memory_.empty(), "contexts still in use"); }

LoadedContext* Contexts::known(Context handle) const {
  for (const auto& context : contexts_)
    if (context->handle() == handle) return context.get();
  return nullptr;
}

Result<Use<LoadedContext>> Contexts::current() {
  Context handle = nullptr;
  TRY_VOID(driver_.call(driver_->context.current, &handle));
  const bool retains = handle == nullptr;
  if (retains) {
    Device device = 0;
    TRY_VOID(driver_.call(driver_->device.get, &device, 0));
    TRY_VOID(driver_.call(driver_->device.retain_context, &handle, device));
  }
  const Held lock(lock_, ::sched_yield);
  if (LoadedContext* const context = known(handle)) {
    if (retains) driver_->device.release_context(context->device());
    return use(*context);
  }
  TRY(std::unique_ptr<LoadedContext> made, LoadedContext::load(driver_, handle, retains, images_));
  contexts_.push_back(std::move(made));
  return use(*contexts_.back());
}

Result<Use<DeviceMemory>> Contexts::allocate(const LoadedContext& context, std::uint64_t bytes) {
  Use<LoadedContext> used;
  {
    const Held lock(lock_, ::sched_yield);
    used = use(*known(context.handle()));
  }
  auto made = std::make_unique<DeviceMemory>(std::move(used));
  TRY_VOID(made->allocate(bytes));
  const Held lock(lock_, ::sched_yield);
  memory_.push_back(std::move(made));
  return use(*memory_.back());
}

Use<DeviceMemory> Contexts::find(const std::byte* data) {
  const Held lock(lock_, ::sched_yield);
  for (const auto& memory : memory_)
    if (memory->data() == data) return use(*memory);
  return {};
}

void Contexts::end(LoadedContext& context) {
  std::unique_ptr<LoadedContext> last;
  const Held lock(lock_, ::sched_yield);
  if (--context.uses_ == 0) last = take_out(contexts_, context);
}

void Contexts::end(DeviceMemory& memory) {
  std::unique_ptr<DeviceMemory> last;
  const Held lock(lock_, ::sched_yield);
  if (--memory.uses_ == 0) last = take_out(memory_, memory);
}

}  // namespace hocket::cuda
