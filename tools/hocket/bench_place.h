// SPDX-License-Identifier: Apache-2.0
// What `hocket bench` measures: somebody's calls, on buffers that are somewhere. A place is where a
// rank's buffers are and how ops on them are timed, host memory or a GPU with a stream; calls are
// Hocket's or a peer's. Data is prepared and checked in images on the host. Threads: the rank's.
// Ownership: of the buffers, or of the peer's communicator. Failure: std::runtime_error.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/hocket/bench.h"

namespace hocket::tools {

struct BenchMemory {
  const std::byte* input;
  std::byte* output;
};

/// Throws what the library says.
void must(hocket_result result);

/// A rank's place among the others.
struct BenchSeat {
  explicit BenchSeat(hocket_comm* comm);
  int next() const { return (rank + 1) % ranks; }
  int previous() const { return (rank + ranks - 1) % ranks; }
  int rank = 0, ranks = 0;
};

/// Every rank sends to the next one and receives from the one before: send(peer), receive(peer).
template <class Send, class Receive>
void shift(hocket_comm* comm, const Send& send, const Receive& receive) {
  const BenchSeat seat(comm);
  must(hocket_group_start());
  must(send(seat.next()));
  must(receive(seat.previous()));
  must(hocket_group_end(nullptr));
}

class BenchCalls {
 public:
  virtual ~BenchCalls() = default;
  virtual bool has(Collective collective) const = 0;
  /// One op: on a CUDA stream only begun, on host memory (no stream) done.
  virtual void call(const BenchCase& c, const BenchMemory& memory, void* stream) = 0;
  /// Throws if an op that has ended failed.
  virtual void check() {}
  /// Says how an op is carried out; empty where nobody knows.
  virtual std::string explain(const BenchCase&) { return {}; }
};

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
  virtual void run(BenchCalls& calls, const BenchCase& c, const BenchMemory& memory) = 0;
  /// Microseconds of an op, as often as there is room.
  virtual void time(BenchCalls& calls, const BenchCase& c, const BenchMemory& memory,
                    std::span<double> us) = 0;
  /// Microseconds of the caller's own time that an op took when it was last timed.
  virtual double host_us() const = 0;

 protected:
  std::vector<std::byte> input_image_, output_image_;
};

std::unique_ptr<BenchPlace> make_host_place();
std::unique_ptr<BenchPlace> make_cuda_place(const BenchRun& run, std::uint32_t rank);

/// Hocket's, of a communicator that outlives them.
std::unique_ptr<BenchCalls> make_host_calls(hocket_comm* comm);
std::unique_ptr<BenchCalls> make_stream_calls(hocket_comm* comm);

/// Those of the NCCL library at `path`, among the ranks of `comm`, on the device whose context is
/// current. All ranks make theirs together.
std::unique_ptr<BenchCalls> make_nccl_calls(const std::string& path, hocket_comm* comm);

}  // namespace hocket::tools
