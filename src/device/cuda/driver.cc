// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/driver.h"

#include <dlfcn.h>

#include <string>

namespace hocket::cuda {
namespace {

constexpr int kOldestDriver = 12000;  // of CUDA 12.0

/// What CUDA calls a version: 13.0 for 13000.
std::string release(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Symbols carry the version whose signature is in the table; visits (symbol, function).
template <class F, class Visit>
void visit(F& f, Visit&& each) {
  each("cuInit", f.system.init);
  each("cuDriverGetVersion", f.system.version);
  each("cuGetErrorName", f.system.error_name);
  each("cuGetErrorString", f.system.error_text);
  each("cuDeviceGetCount", f.device.count);
  each("cuDeviceGet", f.device.get);
  each("cuDeviceGetName", f.device.name);
  each("cuDeviceGetAttribute", f.device.attribute);
  each("cuDeviceCanAccessPeer", f.device.reaches);
  each("cuDevicePrimaryCtxRetain", f.device.retain_context);
  each("cuDevicePrimaryCtxRelease_v2", f.device.release_context);
  each("cuCtxGetCurrent", f.context.current);
  each("cuCtxSetCurrent", f.context.make_current);
  each("cuCtxGetDevice", f.context.device);
  each("cuCtxEnablePeerAccess", f.context.enable_peer);
  each("cuCtxSynchronize", f.context.synchronize);
  each("cuMemAlloc_v2", f.memory.allocate);
  each("cuMemFree_v2", f.memory.free);
  each("cuMemGetInfo_v2", f.memory.info);
  each("cuMemHostAlloc", f.memory.allocate_host);
  each("cuMemFreeHost", f.memory.free_host);
  each("cuMemHostGetDevicePointer_v2", f.memory.device_address);
  each("cuMemcpyHtoDAsync_v2", f.memory.to_device);
  each("cuMemcpyDtoHAsync_v2", f.memory.to_host);
  each("cuMemsetD8Async", f.memory.set);
  each("cuIpcGetMemHandle", f.memory.share);
  each("cuIpcOpenMemHandle_v2", f.memory.open_shared);
  each("cuIpcCloseMemHandle", f.memory.close_shared);
  each("cuModuleLoadData", f.module.load);
  each("cuModuleUnload", f.module.unload);
  each("cuModuleGetFunction", f.module.function);
  each("cuLaunchKernel", f.module.launch);
  each("cuStreamCreate", f.stream.create);
  each("cuStreamDestroy_v2", f.stream.destroy);
  each("cuStreamSynchronize", f.stream.synchronize);
  each("cuStreamQuery", f.stream.query);
  each("cuStreamGetId", f.stream.id);
  each("cuStreamWaitValue32_v2", f.stream.wait_value);
  each("cuStreamWaitEvent", f.stream.wait_event);
  each("cuStreamBeginCapture_v2", f.stream.begin_capture);
  each("cuStreamEndCapture", f.stream.end_capture);
  each("cuStreamGetCaptureInfo", f.stream.capture_info);
  each("cuThreadExchangeStreamCaptureMode", f.stream.exchange_capture_mode);
  each("cuEventCreate", f.event.create);
  each("cuEventDestroy_v2", f.event.destroy);
  each("cuEventRecord", f.event.record);
  each("cuEventElapsedTime", f.event.elapsed);
  each("cuGraphInstantiateWithFlags", f.graph.instantiate);
  each("cuGraphUpload", f.graph.upload);
  each("cuGraphLaunch", f.graph.launch);
  each("cuGraphExecDestroy", f.graph.destroy_exec);
  each("cuGraphDestroy", f.graph.destroy);
}

Code code_of(Status status) {
  switch (status) {
    case Status::out_of_memory:
      return Code::out_of_memory;
    case Status::stub_library:
    case Status::no_device:
    case Status::no_binary_for_gpu:
    case Status::unsupported_ptx_version:
    case Status::not_supported:
    case Status::system_not_ready:
    case Status::system_driver_mismatch:
    case Status::compat_not_supported_on_device:
      return Code::unsupported;
    default:
      return Code::system;
  }
}

}  // namespace

Result<Driver> Driver::open() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return Error(Code::unsupported, std::string("no driver: libcuda.so.1 could not be opened: ") +
                                        (why == nullptr ? "dlopen does not say why" : why));
  }
  TRY(Driver driver, from([](void* at, const char* symbol) { return dlsym(at, symbol); }, library));
  TRY_VOID(driver.call(driver->system.init, 0));
  return driver;
}

Result<Driver> Driver::from(Lookup lookup, void* library) {
  Driver driver;
  const char* missing = nullptr;
  visit(driver.functions_, [&](const char* symbol, auto& function) {
    using Pointer = std::remove_reference_t<decltype(function)>;
    function = reinterpret_cast<Pointer>(lookup(library, symbol));
    if (function == nullptr && missing == nullptr) missing = symbol;
  });
  // A driver that is too old says more than that it lacks something.
  int version = 0;
  if (driver->system.version != nullptr) driver->system.version(&version);
  if (version != 0 && version < kOldestDriver) {
    return Error(Code::unsupported, "the driver is for CUDA " + release(version) +
                                        ", Hocket needs one for " + release(kOldestDriver) +
                                        " at least");
  }
  if (missing != nullptr) {
    return Error(Code::unsupported, std::string("the driver has no function ") + missing);
  }
  return driver;
}

Error Driver::error(const void* function, Status status) const {
  const char* symbol = "a call of the driver";
  visit(functions_, [&](const char* name, const auto& entry) {
    if (&entry == function) symbol = name;
  });
  const char *name = nullptr, *text = nullptr;
  functions_.system.error_name(status, &name);
  functions_.system.error_text(status, &text);
  return Error(code_of(status), symbol + (" on " + current_device()) + ": " +
                                    (text == nullptr ? "no description" : text) + ", " +
                                    (name == nullptr ? "an unknown error" : name) + " (" +
                                    std::to_string(static_cast<int>(status)) + ")");
}

std::string Driver::current_device() const {
  Device device = 0;
  if (functions_.context.device(&device) != Status::success) return "no current device";
  char name[128] = "";
  if (functions_.device.name(name, sizeof name, device) != Status::success) name[0] = 0;
  return "device " + std::to_string(device) + " (" + name + ")";
}

}  // namespace hocket::cuda
