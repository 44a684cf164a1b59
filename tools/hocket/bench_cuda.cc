// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <utility>

#include "device/cuda/driver.h"
#include "tools/hocket/bench_place.h"

namespace hocket::tools {
namespace {

using cuda::Address;
using cuda::Driver;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kBatch = 20;  // ops between two looks at the clock

void checked(Result<void> result) {
  if (!result) throw std::runtime_error(result.error().text());
}

Driver open_driver() {
  Result<Driver> driver = Driver::open();
  if (!driver) throw std::runtime_error(driver.error().text());
  return *std::move(driver);
}

/// The program ends with its ranks: contexts, streams and memory end with it.
class CudaPlace final : public BenchPlace {
 public:
  CudaPlace(const BenchRun& run, std::uint32_t rank) : driver_(open_driver()), run_(run) {
    int count = 0;
    checked(driver_.call(driver_->device.count, &count));
    if (run.cuda.gpus > 0) count = std::min(count, static_cast<int>(run.cuda.gpus));
    if (count == 0) throw std::runtime_error("there is no GPU");
    cuda::Device device = 0;
    cuda::Context context = nullptr;
    checked(driver_.call(driver_->device.get, &device, static_cast<int>(rank) % count));
    checked(driver_.call(driver_->device.retain_context, &context, device));
    checked(driver_.call(driver_->context.make_current, context));
    checked(driver_.call(driver_->stream.create, &stream_, cuda::kStreamNonBlocking));
    for (cuda::Event* const event : {&from_, &to_})
      checked(driver_.call(driver_->event.create, event, 0));
  }

  void allocate(std::uint64_t bytes) override {
    for (Address* const memory : {&input_, &output_})
      checked(driver_.call(driver_->memory.allocate, memory, std::max<std::uint64_t>(bytes, 1)));
    input_image_.resize(bytes);
    output_image_.resize(bytes);
  }
  std::byte* input() override { return reinterpret_cast<std::byte*>(input_); }
  std::byte* output() override { return reinterpret_cast<std::byte*>(output_); }
  void push(std::uint64_t bytes) override {
    if (bytes == 0) return;
    checked(driver_.call(driver_->memory.to_device, input_, input_image_.data(), bytes, stream_));
    checked(driver_.call(driver_->memory.to_device, output_, output_image_.data(), bytes, stream_));
    synchronize();
  }
  void pull(std::uint64_t bytes) override {
    if (bytes == 0) return;
    checked(driver_.call(driver_->memory.to_host, input_image_.data(), input_, bytes, stream_));
    checked(driver_.call(driver_->memory.to_host, output_image_.data(), output_, bytes, stream_));
    synchronize();
  }

  void run(BenchCalls& calls, const BenchCase& c, const BenchMemory& m) override {
    calls.call(c, m, stream_);
    synchronize();
    calls.check();
  }

  void time(BenchCalls& calls, const BenchCase& c, const BenchMemory& m,
            std::span<double> us) override {
    if (run_.cuda.captured > 0) capture(calls, c, m);
    for (double& taken : us) {
      checked(driver_.call(driver_->event.record, from_, stream_));
      std::uint32_t ops = 0;
      const Clock::time_point start = Clock::now();
      while (ops < kBatch) ops += call_some(calls, c, m);
      host_us_ = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / ops;
      checked(driver_.call(driver_->event.record, to_, stream_));
      synchronize();
      float milliseconds = 0;
      checked(driver_.call(driver_->event.elapsed, &milliseconds, from_, to_));
      taken = 1e3 * static_cast<double>(milliseconds) / ops;
    }
  }

  double host_us() const override { return host_us_; }

 private:
  void synchronize() { checked(driver_.call(driver_->stream.synchronize, stream_)); }

  /// How many.
  std::uint32_t call_some(BenchCalls& calls, const BenchCase& c, const BenchMemory& m) {
    if (run_.cuda.captured == 0) {
      calls.call(c, m, stream_);
      return 1;
    }
    checked(driver_.call(driver_->graph.launch, exec_, stream_));
    return run_.cuda.captured;
  }

  void capture(BenchCalls& calls, const BenchCase& c, const BenchMemory& m) {
    if (exec_ != nullptr) checked(driver_.call(driver_->graph.destroy_exec, exec_));
    cuda::Graph graph = nullptr;
    checked(driver_.call(driver_->stream.begin_capture, stream_, cuda::kCaptureRelaxed));
    for (std::uint32_t i = 0; i < run_.cuda.captured; ++i) calls.call(c, m, stream_);
    checked(driver_.call(driver_->stream.end_capture, stream_, &graph));
    checked(driver_.call(driver_->graph.instantiate, &exec_, graph, 0));
    checked(driver_.call(driver_->graph.destroy, graph));
    checked(driver_.call(driver_->graph.upload, exec_, stream_));
    synchronize();
  }

  const Driver driver_;
  const BenchRun& run_;
  cuda::Stream stream_ = nullptr;
  cuda::Event from_ = nullptr, to_ = nullptr;
  cuda::GraphExec exec_ = nullptr;
  Address input_ = 0, output_ = 0;
  double host_us_ = 0;
};

class StreamCalls final : public BenchCalls {
 public:
  explicit StreamCalls(hocket_comm* comm) : comm_(comm) {}

  bool has(Collective) const override { return true; }

  void call(const BenchCase& c, const BenchMemory& m, void* stream) override {
    const auto type = static_cast<hocket_type>(c.type);
    const auto op = static_cast<hocket_op>(c.op);
    const int root = static_cast<int>(c.root);
    switch (c.collective) {
      case Collective::all_reduce:
        return must(hocket_stream_all_reduce(m.input, m.output, c.count, type, op, comm_, stream));
      case Collective::all_gather:
        return must(hocket_stream_all_gather(m.input, m.output, c.count, type, comm_, stream));
      case Collective::reduce_scatter:
        return must(
            hocket_stream_reduce_scatter(m.input, m.output, c.count, type, op, comm_, stream));
      case Collective::broadcast:
        return must(hocket_stream_broadcast(m.input, m.output, c.count, type, root, comm_, stream));
      case Collective::reduce:
        return must(
            hocket_stream_reduce(m.input, m.output, c.count, type, op, root, comm_, stream));
      case Collective::alltoall:
        return must(hocket_stream_alltoall(m.input, m.output, c.count, type, comm_, stream));
      case Collective::barrier:
        return must(hocket_stream_barrier(comm_, stream));
      case Collective::send_recv:
        return shift(
            comm_,
            [&](int peer) {
              return hocket_stream_send(m.input, c.count, type, peer, comm_, stream);
            },
            [&](int peer) {
              return hocket_stream_recv(m.output, c.count, type, peer, comm_, stream);
            });
    }
  }

  void check() override {
    hocket_result error = HOCKET_SUCCESS;
    must(hocket_comm_async_error(comm_, &error));
    must(error);
  }

  std::string explain(const BenchCase& c) override {
    char text[256];
    must(hocket_stream_explain(comm_, static_cast<hocket_collective>(c.collective), c.count,
                               static_cast<hocket_type>(c.type), static_cast<hocket_op>(c.op), text,
                               sizeof text, nullptr));
    return text;
  }

 private:
  hocket_comm* const comm_;
};

}  // namespace

std::unique_ptr<BenchPlace> make_cuda_place(const BenchRun& run, std::uint32_t rank) {
  return std::make_unique<CudaPlace>(run, rank);
}

std::unique_ptr<BenchCalls> make_stream_calls(hocket_comm* comm) {
  return std::make_unique<StreamCalls>(comm);
}

}  // namespace hocket::tools
