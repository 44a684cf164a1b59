// SPDX-License-Identifier: Apache-2.0
// One GPU for tests: a context, memory and streams that end with their owner. A call that fails
// prints why and ends the program with status 1. Included by tests alone.
#pragma once
#include <string>
#include <utility>

#include "device/cuda/driver.h"

namespace hocket::cuda {

[[noreturn]] void fail(const std::string& why);

inline void must(Result<void> result) {
  if (!result) fail(result.error().text());
}
template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error().text());
  return std::move(result).value();
}

/// The first device, with its primary context current.
class Gpu {
 public:
  explicit Gpu(const Driver& driver) : driver_(driver) {
    must(driver.call(driver->device.get, &device_, 0));
    Context context = nullptr;
    must(driver.call(driver->device.retain_context, &context, device_));
    must(driver.call(driver->context.make_current, context));
  }
  ~Gpu() { driver_->device.release_context(device_); }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Driver& driver() const { return driver_; }
  std::string name() const {
    char name[128] = "";
    must(driver_.call(driver_->device.name, name, int{sizeof name}, device_));
    return name;
  }
  unsigned multiprocessors() const {
    int count = 0;
    must(driver_.call(driver_->device.attribute, &count, Attribute::multiprocessors, device_));
    return static_cast<unsigned>(count);
  }

 private:
  const Driver& driver_;
  Device device_ = 0;
};

/// Device memory, zero at first; of this program alone.
class Memory {
 public:
  Memory(const Gpu& gpu, std::size_t bytes) : driver_(gpu.driver()), bytes_(bytes) {
    must(driver_.call(driver_->memory.allocate, &address_, bytes));
    clear();
  }
  ~Memory() { driver_->memory.free(address_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() const { return reinterpret_cast<std::byte*>(address_); }
  void clear() {
    must(driver_.call(driver_->memory.set, address_, 0, bytes_, nullptr));
    must(driver_.call(driver_->stream.synchronize, nullptr));
  }
  void write(const void* from, std::size_t bytes) {
    must(driver_.call(driver_->memory.to_device, address_, from, bytes, nullptr));
    must(driver_.call(driver_->stream.synchronize, nullptr));
  }
  void read(void* to, std::size_t bytes) const {
    must(driver_.call(driver_->memory.to_host, to, address_, bytes, nullptr));
    must(driver_.call(driver_->stream.synchronize, nullptr));
  }

 private:
  const Driver& driver_;
  std::size_t bytes_;
  Address address_ = 0;
};

/// A T in host memory that the device has mapped.
template <class T>
class Mapped {
 public:
  explicit Mapped(const Gpu& gpu) : driver_(gpu.driver()) {
    void* memory = nullptr;
    must(driver_.call(driver_->memory.allocate_host, &memory, sizeof(T), kHostMapped));
    host_ = ::new (memory) T{};
    Address address = 0;
    must(driver_.call(driver_->memory.device_address, &address, memory, 0));
    device_ = reinterpret_cast<T*>(address);
  }
  ~Mapped() { driver_->memory.free_host(host_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  T* host() const { return host_; }
  T* device() const { return device_; }

 private:
  const Driver& driver_;
  T* host_ = nullptr;
  T* device_ = nullptr;
};

/// A stream, and what was captured from it.
class Queue {
 public:
  explicit Queue(const Gpu& gpu) : driver_(gpu.driver()) {
    must(driver_.call(driver_->stream.create, &stream_, kStreamNonBlocking));
    must(driver_.call(driver_->event.create, &from_, 0));
    must(driver_.call(driver_->event.create, &to_, 0));
  }
  ~Queue() {
    drop();
    driver_->event.destroy(from_);
    driver_->event.destroy(to_);
    driver_->stream.destroy(stream_);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Stream stream() const { return stream_; }
  bool is_idle() const { return driver_->stream.query(stream_) == Status::success; }
  void wait() { must(driver_.call(driver_->stream.synchronize, stream_)); }
  void wait_until_equal(std::uint32_t* word, std::uint32_t value) {
    const auto address = reinterpret_cast<Address>(word);
    must(driver_.call(driver_->stream.wait_value, stream_, address, value, kWaitEqual));
  }

  void capture() {
    drop();
    must(driver_.call(driver_->stream.begin_capture, stream_, kCaptureRelaxed));
  }
  void end_capture() {
    must(driver_.call(driver_->stream.end_capture, stream_, &graph_));
    must(driver_.call(driver_->graph.instantiate, &exec_, graph_, 0));
    must(driver_.call(driver_->graph.upload, exec_, stream_));
    wait();
  }
  void replay() { must(driver_.call(driver_->graph.launch, exec_, stream_)); }

  void start() { must(driver_.call(driver_->event.record, from_, stream_)); }
  void stop() { must(driver_.call(driver_->event.record, to_, stream_)); }
  double microseconds() const {
    float milliseconds = 0;
    must(driver_.call(driver_->event.elapsed, &milliseconds, from_, to_));
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  void drop() {
    if (exec_ != nullptr) driver_->graph.destroy_exec(std::exchange(exec_, nullptr));
    if (graph_ != nullptr) driver_->graph.destroy(std::exchange(graph_, nullptr));
  }

  const Driver& driver_;
  Stream stream_ = nullptr;
  Event from_ = nullptr, to_ = nullptr;
  Graph graph_ = nullptr;
  GraphExec exec_ = nullptr;
};

}  // namespace hocket::cuda
