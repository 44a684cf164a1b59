// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>

#include "tools/hocket/bench_place.h"

namespace hocket::tools {
namespace {

class HostPlace final : public BenchPlace {
 public:
  void allocate(std::uint64_t bytes) override {
    input_image_.resize(bytes);
    output_image_.resize(bytes);
  }
  std::byte* input() override { return input_image_.data(); }
  std::byte* output() override { return output_image_.data(); }
  void push(std::uint64_t) override {}
  void pull(std::uint64_t) override {}

  void run(BenchCalls& calls, const BenchCase& c, const BenchMemory& m) override {
    calls.call(c, m, nullptr);
  }

  void time(BenchCalls& calls, const BenchCase& c, const BenchMemory& m,
            std::span<double> us) override {
    using Clock = std::chrono::steady_clock;
    for (double& taken : us) {
      const Clock::time_point start = Clock::now();
      calls.call(c, m, nullptr);
      taken = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    }
    host_us_ = us.empty() ? 0 : us.back();  // the caller waits
  }
  double host_us() const override { return host_us_; }

 private:
  double host_us_ = 0;
};

class HostCalls final : public BenchCalls {
 public:
  explicit HostCalls(hocket_comm* comm) : comm_(comm) {}

  bool has(Collective) const override { return true; }

  void call(const BenchCase& c, const BenchMemory& m, void*) override {
    const auto type = static_cast<hocket_type>(c.type);
    const auto op = static_cast<hocket_op>(c.op);
    const int root = static_cast<int>(c.root);
    switch (c.collective) {
      case Collective::all_reduce:
        return must(hocket_all_reduce(m.input, m.output, c.count, type, op, comm_, nullptr));
      case Collective::all_gather:
        return must(hocket_all_gather(m.input, m.output, c.count, type, comm_, nullptr));
      case Collective::reduce_scatter:
        return must(hocket_reduce_scatter(m.input, m.output, c.count, type, op, comm_, nullptr));
      case Collective::broadcast:
        return must(hocket_broadcast(m.input, m.output, c.count, type, root, comm_, nullptr));
      case Collective::reduce:
        return must(hocket_reduce(m.input, m.output, c.count, type, op, root, comm_, nullptr));
      case Collective::alltoall:
        return must(hocket_alltoall(m.input, m.output, c.count, type, comm_, nullptr));
      case Collective::barrier:
        return must(hocket_barrier(comm_, nullptr));
      case Collective::send_recv:
        return shift(
            comm_,
            [&](int peer) { return hocket_send(m.input, c.count, type, peer, comm_, nullptr); },
            [&](int peer) { return hocket_recv(m.output, c.count, type, peer, comm_, nullptr); });
    }
  }

  std::string explain(const BenchCase& c) override {
    char text[256];
    must(hocket_explain(comm_, static_cast<hocket_collective>(c.collective), c.count,
                        static_cast<hocket_type>(c.type), static_cast<hocket_op>(c.op), text,
                        sizeof text, nullptr));
    return text;
  }

 private:
  hocket_comm* const comm_;
};

}  // namespace

void must(hocket_result result) {
  if (result != HOCKET_SUCCESS) throw std::runtime_error(hocket_last_error());
}

BenchSeat::BenchSeat(hocket_comm* comm) {
  must(hocket_comm_rank(comm, &rank));
  must(hocket_comm_size(comm, &ranks));
}

std::unique_ptr<BenchPlace> make_host_place() { return std::make_unique<HostPlace>(); }

std::unique_ptr<BenchCalls> make_host_calls(hocket_comm* comm) {
  return std::make_unique<HostCalls>(comm);
}

}  // namespace hocket::tools
