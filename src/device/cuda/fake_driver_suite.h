// SPDX-License-Identifier: Apache-2.0
// A driver that is not there: a few functions that answer as told, one stub for all others, which
// must not be called. Included by tests alone.
#pragma once
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "device/cuda/driver.h"

namespace hocket::cuda {

class FakeDriver {
 public:
  FakeDriver() {
    set("cuDriverGetVersion", [](int* version) {
      *version = 13000;
      return Status::success;
    });
    set("cuGetErrorName", [](Status status, const char** name) {
      *name = status == Status::out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : nullptr;
      return *name == nullptr ? Status::invalid_value : Status::success;
    });
    set("cuGetErrorString", [](Status status, const char** text) {
      *text = status == Status::out_of_memory ? "out of memory" : nullptr;
      return *text == nullptr ? Status::invalid_value : Status::success;
    });
    set("cuCtxGetDevice", [](Device* device) {
      *device = 3;
      return Status::success;
    });
    set("cuDeviceGetName", [](char* name, int, Device) {
      std::strcpy(name, "Fake H200");
      return Status::success;
    });
  }

  template <class... Parameters>
  void set(const char* symbol, Status (*function)(Parameters...)) {
    symbols_[symbol] = reinterpret_cast<void*>(function);
  }
  template <class F>
  void set(const char* symbol, F function) {
    set(symbol, +function);
  }
  void remove(const char* symbol) { symbols_[symbol] = nullptr; }

  Result<Driver> open() {
    return Driver::from(
        [](void* self, const char* symbol) { return static_cast<FakeDriver*>(self)->find(symbol); },
        this);
  }

 private:
  void* find(const char* symbol) const {
    const auto found = symbols_.find(symbol);
    return found == symbols_.end() ? reinterpret_cast<void*>(&std::abort) : found->second;
  }

  std::map<std::string, void*> symbols_;
};

}  // namespace hocket::cuda
