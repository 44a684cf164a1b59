// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>

#include "tools/hocket/bench_place.h"

namespace hocket::tools {
namespace {

class HostPlace final : public BenchPlace {
 public:
  HostPlace(std::uint32_t rank, std::uint32_t ranks) : rank_(rank), ranks_(ranks) {}

  void allocate(std::uint64_t bytes) override {
    input_image_.resize(bytes);
    output_image_.resize(bytes);
  }
  std::byte* input() override { return input_image_.data(); }
  std::byte* output() override { return output_image_.data(); }
  void push(std::uint64_t) override {}
  void pull(std::uint64_t) override {}

  void run(hocket_comm* comm, const BenchCase& c, const BenchMemory& m) override {
    const auto type = static_cast<hocket_type>(c.type);
    const auto op = static_cast<hocket_op>(c.op);
    const int root = static_cast<int>(c.root);
    switch (c.collective) {
      case Collective::all_reduce:
        return must(hocket_all_reduce(m.input, m.output, c.count, type, op, comm, nullptr));
      case Collective::all_gather:
        return must(hocket_all_gather(m.input, m.output, c.count, type, comm, nullptr));
      case Collective::reduce_scatter:
        return must(hocket_reduce_scatter(m.input, m.output, c.count, type, op, comm, nullptr));
      case Collective::broadcast:
        return must(hocket_broadcast(m.input, m.output, c.count, type, root, comm, nullptr));
      case Collective::reduce:
        return must(hocket_reduce(m.input, m.output, c.count, type, op, root, comm, nullptr));
      case Collective::alltoall:
        return must(hocket_alltoall(m.input, m.output, c.count, type, comm, nullptr));
      case Collective::barrier:
        return must(hocket_barrier(comm, nullptr));
      case Collective::send_recv:
        return shift(comm, c, m);
    }
  }

  void time(hocket_comm* comm, const BenchCase& c, const BenchMemory& m,
            std::span<double> us) override {
    using Clock = std::chrono::steady_clock;
    for (double& taken : us) {
      const Clock::time_point start = Clock::now();
      run(comm, c, m);
      taken = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    }
    host_us_ = us.empty() ? 0 : us.back();  // the caller waits
  }

  std::string explain(hocket_comm* comm, const BenchCase& c) override {
    char text[256];
    must(hocket_explain(comm, static_cast<hocket_collective>(c.collective), c.count,
                        static_cast<hocket_type>(c.type), static_cast<hocket_op>(c.op), text,
                        sizeof text, nullptr));
    return text;
  }
  bool has(Collective) const override { return true; }
  double host_us() const override { return host_us_; }

 private:
  /// Every rank sends to the next one and receives from the one before.
  void shift(hocket_comm* comm, const BenchCase& c, const BenchMemory& m) {
    const auto type = static_cast<hocket_type>(c.type);
    const std::uint32_t next = (rank_ + 1) % ranks_, previous = (rank_ + ranks_ - 1) % ranks_;
    must(hocket_group_start());
    must(hocket_send(m.input, c.count, type, static_cast<int>(next), comm, nullptr));
    must(hocket_recv(m.output, c.count, type, static_cast<int>(previous), comm, nullptr));
    must(hocket_group_end(nullptr));
  }

  const std::uint32_t rank_, ranks_;
  double host_us_ = 0;
};

}  // namespace

void must(hocket_result result) {
  if (result != HOCKET_SUCCESS) throw std::runtime_error(hocket_last_error());
}

std::unique_ptr<BenchPlace> make_host_place(std::uint32_t rank, std::uint32_t ranks) {
  return std::make_unique<HostPlace>(rank, ranks);
}

}  // namespace hocket::tools
