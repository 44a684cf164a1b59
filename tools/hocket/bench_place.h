// SPDX-License-Identifier: Apache-2.0
// Where a rank's buffers are, how its calls are made there, and how they are timed: host memory, or
// a GPU with a stream. Data is prepared and checked in images on the host. Threads: the rank's.
// Ownership: of the buffers. Failure: std::runtime_error.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tools/hocket/bench.h"

namespace hocket::tools {

struct BenchMemory {
  const std::byte* input;
  std::byte* output;
};

/// Throws what the library says.
void must(hocket_result result);

class BenchPlace {
 public:
  virtual ~BenchPlace() = default;

  /// The two buffers as calls see them, and their images, each of `bytes`.
  virtual void allocate(std::uint64_t bytes) = 0;
  virtual std::byte* input() = 0;
  virtual std::byte* output() = 0;
  std::vector<std::byte>& input_image() { return input_image_; }
  std::vector<std::byte>& output_image() { return output_image_; }
  /// What was written into the images becomes the buffers' first bytes; the other way round.
  virtual void push(std::uint64_t bytes) = 0;
  virtual void pull(std::uint64_t bytes) = 0;

  /// One op, to its end.
  virtual void run(hocket_comm* comm, const BenchCase& c, const BenchMemory& memory) = 0;
  /// Microseconds of an op, as often as there is room.
  virtual void time(hocket_comm* comm, const BenchCase& c, const BenchMemory& memory,
                    std::span<double> us) = 0;
  virtual std::string explain(hocket_comm* comm, const BenchCase& c) = 0;
  virtual bool has(Collective collective) const = 0;
  /// Microseconds of the caller's own time that an op took when it was last timed.
  virtual double host_us() const = 0;

 protected:
  std::vector<std::byte> input_image_, output_image_;
};

std::unique_ptr<BenchPlace> make_host_place(std::uint32_t rank, std::uint32_t ranks);
std::unique_ptr<BenchPlace> make_cuda_place(const BenchRun& run, std::uint32_t rank);

}  // namespace hocket::tools
