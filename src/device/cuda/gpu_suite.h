// SPDX-License-Identifier: Apache-2.0
// The GPUs of a machine for tests: contexts, kernels, memory and streams that end with their owner.
// All calls are made with the context of their GPU current, so that one thread drives all. A call
// that fails prints why and ends the program with status 1. Included by tests alone.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/driver.h"
#include "device/cuda/module.h"

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

/// A device, its primary context and the kernels in it.
class Gpu {
 public:
  Gpu(const Driver& driver, int ordinal);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Functions* operator->() const { return driver_.operator->(); }
  void use() const { must(driver_.call(driver_->context.make_current, context_)); }
  /// As Driver's, with this GPU's context current.
  template <class... Parameters>
  void call(Status (*const& function)(Parameters...),
            std::type_identity_t<Parameters>... arguments) const {
    use();
    must(driver_.call(function, arguments...));
  }

  const Module& module() const { return *module_; }
  std::string name() const;
  unsigned multiprocessors() const;
  bool reaches(const Gpu& peer) const;
  /// Maps the peer's memory here.
  void enable(const Gpu& peer) const { call(driver_->context.enable_peer, peer.context_, 0); }

 private:
  const Driver& driver_;
  Device device_ = 0;
  Context context_ = nullptr;
  std::unique_ptr<Module> module_;
};

/// Those that have each other's memory mapped: the first, and all that reach it and one another.
class Gpus {
 public:
  explicit Gpus(const Driver& driver);

  std::size_t size() const { return gpus_.size(); }
  /// Ranks go round.
  const Gpu& of(std::uint32_t rank) const { return *gpus_[rank % gpus_.size()]; }
  /// The most that each of `world` ranks can launch if all have to run at the same time.
  unsigned blocks(std::uint32_t world) const;

 private:
  std::vector<std::unique_ptr<Gpu>> gpus_;
};

/// Device memory, zero at first.
class Memory {
 public:
  Memory(const Gpu& gpu, std::size_t bytes) : gpu_(gpu), bytes_(bytes) {
    gpu.call(gpu->memory.allocate, &address_, bytes);
    clear();
  }
  ~Memory() { gpu_.call(gpu_->memory.free, address_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() const { return reinterpret_cast<std::byte*>(address_); }
  std::size_t size() const { return bytes_; }
  void clear() {
    gpu_.call(gpu_->memory.set, address_, 0, bytes_, nullptr);
    gpu_.call(gpu_->stream.synchronize, nullptr);
  }
  void write(const void* from, std::size_t bytes) {
    gpu_.call(gpu_->memory.to_device, address_, from, bytes, nullptr);
    gpu_.call(gpu_->stream.synchronize, nullptr);
  }
  void read(void* to, std::size_t bytes) const {
    gpu_.call(gpu_->memory.to_host, to, address_, bytes, nullptr);
    gpu_.call(gpu_->stream.synchronize, nullptr);
  }

 private:
  const Gpu& gpu_;
  std::size_t bytes_;
  Address address_ = 0;
};

/// A T in host memory that all devices have mapped; at one address, as addressing is unified.
template <class T>
class Mapped {
 public:
  explicit Mapped(const Gpu& gpu) : gpu_(gpu) {
    void* memory = nullptr;
    gpu.call(gpu->memory.allocate_host, &memory, sizeof(T), kHostPortable | kHostMapped);
    host_ = ::new (memory) T{};
    Address address = 0;
    gpu.call(gpu->memory.device_address, &address, memory, 0);
    device_ = reinterpret_cast<T*>(address);
  }
  ~Mapped() { gpu_.call(gpu_->memory.free_host, host_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  T* host() const { return host_; }
  T* device() const { return device_; }

 private:
  const Gpu& gpu_;
  T* host_ = nullptr;
  T* device_ = nullptr;
};

/// A stream, and what was captured from it.
class Queue {
 public:
  explicit Queue(const Gpu& gpu) : gpu_(gpu) {
    gpu.call(gpu->stream.create, &stream_, kStreamNonBlocking);
    gpu.call(gpu->event.create, &from_, 0);
    gpu.call(gpu->event.create, &to_, 0);
    // The first work of a stream may wait for kernels that run in the context, and those of a rank
    // may wait for this one's.
    Memory touched(gpu, 4);
    gpu.call(gpu->memory.set, reinterpret_cast<Address>(touched.data()), 1, 4, stream_);
    wait();
  }
  ~Queue() {
    drop();
    gpu_.call(gpu_->event.destroy, from_);
    gpu_.call(gpu_->event.destroy, to_);
    gpu_.call(gpu_->stream.destroy, stream_);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Stream stream() const { return stream_; }
  bool is_idle() const { return gpu_->stream.query(stream_) == Status::success; }
  void wait() { gpu_.call(gpu_->stream.synchronize, stream_); }
  void wait_until_equal(std::uint32_t* word, std::uint32_t value) {
    const auto address = reinterpret_cast<Address>(word);
    gpu_.call(gpu_->stream.wait_value, stream_, address, value, kWaitEqual);
  }
  void launch(const kernels::Domain& domain, const world::Action& action) {
    gpu_.use();
    must(gpu_.module().launch(stream_, domain, action));
  }
  /// A kernel of the test's own.
  void launch(Function kernel, unsigned blocks, unsigned threads, void** parameters) {
    gpu_.call(gpu_->module.launch, kernel, blocks, 1, 1, threads, 1, 1, 0, stream_, parameters,
              nullptr);
  }

  void capture() {
    drop();
    gpu_.call(gpu_->stream.begin_capture, stream_, kCaptureRelaxed);
  }
  void end_capture() {
    gpu_.call(gpu_->stream.end_capture, stream_, &graph_);
    gpu_.call(gpu_->graph.instantiate, &exec_, graph_, 0);
    gpu_.call(gpu_->graph.upload, exec_, stream_);
    wait();
  }
  void replay() { gpu_.call(gpu_->graph.launch, exec_, stream_); }

  void start() { gpu_.call(gpu_->event.record, from_, stream_); }
  void stop() { gpu_.call(gpu_->event.record, to_, stream_); }
  double microseconds() const {
    float milliseconds = 0;
    gpu_.call(gpu_->event.elapsed, &milliseconds, from_, to_);
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  void drop() {
    if (exec_ != nullptr) gpu_.call(gpu_->graph.destroy_exec, std::exchange(exec_, nullptr));
    if (graph_ != nullptr) gpu_.call(gpu_->graph.destroy, std::exchange(graph_, nullptr));
  }

  const Gpu& gpu_;
  Stream stream_ = nullptr;
  Event from_ = nullptr, to_ = nullptr;
  Graph graph_ = nullptr;
  GraphExec exec_ = nullptr;
};

}  // namespace hocket::cuda
