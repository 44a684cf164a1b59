// SPDX-License-Identifier: Apache-2.0
// The contexts of this process that Hocket works in, each with all kernels loaded: a kernel loaded
// by its first launch may have to wait for one that spins. And the memory that ranks of a process
// use in common.
//
// Threads: any. Ownership: Contexts owns all, each as long as somebody uses it; uses end before
// Contexts does. Failure: as Driver's. Cost: 10 ms for the first user of a context.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/baton.h"
#include "device/cuda/driver.h"
#include "device/cuda/module.h"

namespace hocket::cuda {

class Contexts;

/// What several use in common goes with its last use.
template <class T>
class Use {
 public:
  Use() = default;
  Use(Contexts& owner, T& used) : owner_(&owner), used_(&used) {}
  Use(Use&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), used_(std::exchange(other.used_, nullptr)) {}
  Use& operator=(Use&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(used_, other.used_);
    return *this;
  }
  ~Use();
  T* get() const { return used_; }
  T* operator->() const { return used_; }
  T& operator*() const { return *used_; }

 private:
  Contexts* owner_ = nullptr;
  T* used_ = nullptr;
};

class LoadedContext {
 public:
  /// Takes over a reference to device 0's primary context if `retained`.
  static Result<std::unique_ptr<LoadedContext>> load(const Driver& driver, Context context,
                                                     bool retained, std::span<const Image> images);
  ~LoadedContext();
  LoadedContext(const LoadedContext&) = delete;
  LoadedContext& operator=(const LoadedContext&) = delete;

  const Driver& driver() const { return driver_; }
  Context handle() const { return context_; }
  Device device() const { return device_; }
  const Module& module() const { return *module_; }
  /// "device 0 (NVIDIA H200)".
  const std::string& name() const { return name_; }

  /// One communicator at a time has large mailboxes, with however many ranks here. False: it is
  /// another one.
  bool take_large(std::uint64_t communicator);
  void give_large_back();

 private:
  struct Private {};  // load() alone can name it
  struct Large {
    Baton lock;
    std::uint64_t owner = 0;  // if there are
    std::uint32_t ranks = 0;
  };

 public:
  LoadedContext(Private, const Driver& driver, Context context, bool retained)
      : driver_(driver), context_(context), retained_(retained) {}

 private:
  friend class Contexts;
  const Driver& driver_;
  const Context context_;
  const bool retained_;
  Device device_ = 0;
  std::string name_;
  std::unique_ptr<Module> module_;
  Large large_;
  std::uint32_t uses_ = 0;  // under Contexts' lock
};

/// The calling thread's context is this one until the end of the scope.
class Entered {
 public:
  explicit Entered(const LoadedContext& context);
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  const Driver& driver_;
  Context before_ = nullptr;
  const bool changes_;
};

/// And its calls are allowed while another thread captures.
class Within {
 public:
  explicit Within(const LoadedContext& context);
  ~Within();
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  const Entered entered_;
  const Driver& driver_;
  int mode_ = kCaptureRelaxed;
};

/// Memory of a device.
class DeviceMemory {
 public:
  explicit DeviceMemory(Use<LoadedContext> context) : context_(std::move(context)) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  Result<void> allocate(std::uint64_t bytes);
  std::byte* data() const { return data_; }

 private:
  friend class Contexts;
  const Use<LoadedContext> context_;
  std::byte* data_ = nullptr;
  std::uint32_t uses_ = 0;  // under Contexts' lock
};

class Contexts {
 public:
  explicit Contexts(const Driver& driver, std::span<const Image> images = cuda::images())
      : driver_(driver), images_(images) {}
  ~Contexts();

  /// That of the calling thread; where it has none, the primary one of device 0, as a program that
  /// has not chosen a device works on it.
  Result<Use<LoadedContext>> current();
  Result<Use<DeviceMemory>> allocate(const LoadedContext& context, std::uint64_t bytes);
  /// That of another rank of this process; of none if nobody uses it any more.
  Use<DeviceMemory> find(const std::byte* data);

 private:
  template <class T>
  friend class Use;
  template <class T>
  Use<T> use(T& thing) {
    ++thing.uses_;
    return Use<T>(*this, thing);
  }
  void end(LoadedContext& context);
  void end(DeviceMemory& memory);
  LoadedContext* known(Context handle) const;

  const Driver& driver_;
  const std::span<const Image> images_;
  Baton lock_;
  std::vector<std::unique_ptr<LoadedContext>> contexts_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
};

template <class T>
Use<T>::~Use() {
  if (used_ != nullptr) owner_->end(*used_);
}

}  // namespace hocket::cuda
