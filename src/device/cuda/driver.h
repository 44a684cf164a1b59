// SPDX-License-Identifier: Apache-2.0
// CUDA's driver, found at run time: one table of functions from libcuda.so.1, and how a call that
// fails becomes an Error. Nothing of Hocket is linked to CUDA, so a machine without it runs all the
// rest; and a test passes functions of its own.
//
//   TRY_VOID(driver.call(driver->memory.allocate, &address, bytes));
//   // "cuMemAlloc_v2 on device 0 (NVIDIA H200): out of memory, CUDA_ERROR_OUT_OF_MEMORY (2)"
//
// Threads: any; a value that nobody changes. Ownership: the driver's library is never unloaded, it
// has threads of its own. Failure: `unsupported` for no driver, one that is too old or lacks a
// function, no device, no code for it; `out_of_memory`; else `system`.
#pragma once
#include <cstddef>
#include <type_traits>

#include "base/result.h"
#include "device/cuda/abi.h"

namespace hocket::cuda {

/// What the driver calls them, version included, is in driver.cc.
struct SystemFunctions {
  Status (*init)(unsigned flags) = nullptr;
  Status (*version)(int*) = nullptr;
  Status (*error_name)(Status, const char**) = nullptr;
  Status (*error_text)(Status, const char**) = nullptr;
};

struct DeviceFunctions {
  Status (*count)(int*) = nullptr;
  Status (*get)(Device*, int ordinal) = nullptr;
  Status (*name)(char*, int bytes, Device) = nullptr;
  Status (*attribute)(int*, Attribute, Device) = nullptr;
  Status (*reaches)(int*, Device from, Device peer) = nullptr;
  Status (*retain_context)(Context*, Device) = nullptr;  ///< the primary one
  Status (*release_context)(Device) = nullptr;
};

struct ContextFunctions {
  Status (*current)(Context*) = nullptr;
  Status (*make_current)(Context) = nullptr;
  Status (*device)(Device*) = nullptr;
  Status (*enable_peer)(Context peer, unsigned flags) = nullptr;  ///< for the current one
  Status (*synchronize)() = nullptr;                              ///< the current one
};

struct MemoryFunctions {
  Status (*allocate)(Address*, std::size_t bytes) = nullptr;
  Status (*free)(Address) = nullptr;
  Status (*info)(std::size_t* free, std::size_t* total) = nullptr;
  Status (*allocate_host)(void**, std::size_t bytes, unsigned flags) = nullptr;
  Status (*free_host)(void*) = nullptr;
  Status (*device_address)(Address*, void* host, unsigned flags) = nullptr;
  Status (*to_device)(Address, const void*, std::size_t bytes, Stream) = nullptr;
  Status (*to_host)(void*, Address, std::size_t bytes, Stream) = nullptr;
  Status (*set)(Address, unsigned char, std::size_t bytes, Stream) = nullptr;
  Status (*share)(IpcHandle*, Address) = nullptr;
  Status (*open_shared)(Address*, IpcHandle, unsigned flags) = nullptr;
  Status (*close_shared)(Address) = nullptr;
};

struct ModuleFunctions {
  Status (*load)(ModuleHandle*, const void* image) = nullptr;
  Status (*unload)(ModuleHandle) = nullptr;
  Status (*function)(Function*, ModuleHandle, const char* name) = nullptr;
  Status (*launch)(Function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads_x, unsigned threads_y, unsigned threads_z,
                   unsigned shared_bytes, Stream, void** parameters, void** extra) = nullptr;
};

struct StreamFunctions {
  Status (*create)(Stream*, unsigned flags) = nullptr;
  Status (*destroy)(Stream) = nullptr;
  Status (*synchronize)(Stream) = nullptr;
  Status (*query)(Stream) = nullptr;
  Status (*id)(Stream, std::uint64_t* id) = nullptr;  ///< never given anew; not of a captured one
  Status (*wait_value)(Stream, Address, std::uint32_t value, unsigned flags) = nullptr;
  Status (*wait_event)(Stream, Event, unsigned flags) = nullptr;
  Status (*begin_capture)(Stream, int mode) = nullptr;
  Status (*end_capture)(Stream, Graph*) = nullptr;
  Status (*capture_info)(Stream, CaptureStatus*, std::uint64_t* id) = nullptr;
  Status (*exchange_capture_mode)(int* mode) = nullptr;  ///< of the calling thread
};

struct EventFunctions {
  Status (*create)(Event*, unsigned flags) = nullptr;
  Status (*destroy)(Event) = nullptr;
  Status (*record)(Event, Stream) = nullptr;
  Status (*elapsed)(float* milliseconds, Event from, Event to) = nullptr;
};

struct GraphFunctions {
  Status (*instantiate)(GraphExec*, Graph, unsigned long long flags) = nullptr;
  Status (*upload)(GraphExec, Stream) = nullptr;
  Status (*launch)(GraphExec, Stream) = nullptr;
  Status (*destroy_exec)(GraphExec) = nullptr;
  Status (*destroy)(Graph) = nullptr;
};

struct Functions {
  SystemFunctions system;
  DeviceFunctions device;
  ContextFunctions context;
  MemoryFunctions memory;
  ModuleFunctions module;
  StreamFunctions stream;
  EventFunctions event;
  GraphFunctions graph;
};

/// Where symbols come from; null for one that is not there.
using Lookup = void* (*)(void* library, const char* symbol);

class Driver {
 public:
  /// From libcuda.so.1, initialised.
  static Result<Driver> open();
  /// The same from somewhere else.
  static Result<Driver> from(Lookup lookup, void* library);

  const Functions* operator->() const { return &functions_; }

  /// Calls one of this driver's own functions, which it knows by its place in the table.
  template <class... Parameters>
  Result<void> call(Status (*const& function)(Parameters...),
                    std::type_identity_t<Parameters>... arguments) const {
    const Status status = function(arguments...);
    if (status == Status::success) return kOk;
    return error(&function, status);
  }

  /// The Error of a call of the function at that place that returned `status`.
  Error error(const void* function, Status status) const;

 private:
  Driver() = default;
  std::string current_device() const;

  Functions functions_;
};

}  // namespace hocket::cuda
