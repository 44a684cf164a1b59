// SPDX-License-Identifier: Apache-2.0
// One collective by one rank, checked against values_suite.h. Memory beside what a rank may write,
// and its input, must stay as they were. Threads: each rank its own trials. Ownership: of the
// buffers. Failure: of the test. Cost: some ns per element and rank.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "api/ranks_suite.h"
#include "api/values_suite.h"

namespace hocket::api {

struct Place {
  int rank = 0;
  hocket_comm* comm = nullptr;
};

class Trial {
 public:
  Trial(const Case& c, const Place& place) : case_(c), place_(place) { lay_out(); }

  /// Makes the call, waits, checks; the hash of the output.
  std::uint64_t run() {
    hocket_request* request = begin();
    if (request != nullptr) {
      EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT)) << " in " << case_.text();
    }
    return check();
  }
  /// The same in parts, between which the caller waits: makes the call; its request, if any.
  hocket_request* begin() {
    hocket_request* request = nullptr;
    EXPECT_OK(call(case_.requests ? &request : nullptr)) << " in " << case_.text();
    return request;
  }
  std::uint64_t check() {
    with_type(case_.type, [this]<class T>() { check_as<T>(); });
    return hash_of(memory_.data() + output_at_, output_count_ * size_of(case_.type));
  }

 private:
  static constexpr std::size_t kGuard = 128;
  static constexpr std::byte kPattern{0xa5};

  bool is_root() const { return place_.rank == case_.root; }
  std::uint64_t world() const { return static_cast<std::uint64_t>(case_.world); }
  std::uint64_t me() const { return static_cast<std::uint64_t>(place_.rank); }

  /// One stretch of memory: guards, input, output; in place these two are one.
  void lay_out() {
    const std::uint64_t n = case_.count, size = size_of(case_.type);
    const Collective collective = case_.collective;
    input_count_ = output_count_ = n;
    if (collective == Collective::alltoall) input_count_ = output_count_ = n * world();
    if (collective == Collective::all_gather) output_count_ *= world();
    if (collective == Collective::reduce_scatter) input_count_ *= world();
    if (collective == Collective::broadcast && !is_root()) input_count_ = 0;
    if (collective == Collective::reduce && !is_root()) output_count_ = 0;
    if (collective == Collective::barrier) input_count_ = output_count_ = 0;
    // Who has one of the two buffers only is not in place.
    in_place_ = case_.in_place && collective != Collective::alltoall &&
                collective != Collective::send_recv && input_count_ > 0 && output_count_ > 0;
    input_at_ = kGuard + case_.shift;
    output_at_ = input_at_ + input_count_ * size + kGuard;
    std::uint64_t end = output_at_ + output_count_ * size;
    if (in_place_) {
      output_at_ = input_at_;
      if (collective == Collective::all_gather) input_at_ += me() * n * size;
      if (collective == Collective::reduce_scatter) output_at_ += me() * n * size;
      end = kGuard + case_.shift + std::max(input_count_, output_count_) * size;
    }
    memory_.assign(end + kGuard, kPattern);
    with_type(case_.type, [this]<class T>() {
      for (std::uint64_t i = 0; i < input_count_; ++i) {
        const T value = value_of<T>(case_, place_.rank, i);
        std::memcpy(memory_.data() + input_at_ + i * sizeof(T), &value, sizeof value);
      }
    });
    before_ = memory_;
  }

  hocket_result call(hocket_request** request) {
    const auto type = static_cast<hocket_type>(case_.type);
    const auto op = static_cast<hocket_op>(case_.op);
    const std::uint64_t n = case_.count;
    const void* const input = input_count_ > 0 ? memory_.data() + input_at_ : nullptr;
    void* const output = output_count_ > 0 ? memory_.data() + output_at_ : nullptr;
    hocket_comm* const comm = place_.comm;
    switch (case_.collective) {
      case Collective::all_reduce:
        return hocket_all_reduce(input, output, n, type, op, comm, request);
      case Collective::all_gather:
        return hocket_all_gather(input, output, n, type, comm, request);
      case Collective::reduce_scatter:
        return hocket_reduce_scatter(input, output, n, type, op, comm, request);
      case Collective::broadcast:
        return hocket_broadcast(input, output, n, type, case_.root, comm, request);
      case Collective::reduce:
        return hocket_reduce(input, output, n, type, op, case_.root, comm, request);
      case Collective::alltoall:
        return hocket_alltoall(input, output, n, type, comm, request);
      case Collective::barrier:
        return hocket_barrier(comm, request);
      case Collective::send_recv:
        break;
    }
    const int to = (place_.rank + case_.root) % case_.world;
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(hocket_recv(output, n, type, left(), comm, nullptr));
    EXPECT_OK(hocket_send(input, n, type, to, comm, nullptr));
    return hocket_group_end(request);
  }
  int left() const { return (place_.rank + case_.world - case_.root) % case_.world; }

  template <class T>
  void check_as() {
    std::vector<T> operands;
    for (std::uint64_t i = 0; i < output_count_; ++i) {
      T result;
      std::memcpy(&result, memory_.data() + output_at_ + i * sizeof(T), sizeof result);
      if (is_right(i, result, operands)) continue;
      ADD_FAILURE() << case_.text() << ": element " << i << " of rank " << place_.rank << " is "
                    << static_cast<double>(widened(result));
      break;
    }
    std::memcpy(before_.data() + output_at_, memory_.data() + output_at_,
                output_count_ * sizeof(T));
    EXPECT_EQ(std::memcmp(memory_.data(), before_.data(), memory_.size()), 0)
        << case_.text() << ": memory beside the output has changed";
  }

  template <class T>
  bool is_right(std::uint64_t i, T result, std::vector<T>& operands) const {
    const std::uint64_t n = case_.count;
    const auto is_copy = [&](std::uint64_t rank, std::uint64_t at) {
      const T expected = value_of<T>(case_, static_cast<int>(rank), at);
      return std::memcmp(&expected, &result, sizeof result) == 0;
    };
    switch (case_.collective) {
      case Collective::all_gather:
        return is_copy(i / n, i % n);
      case Collective::broadcast:
        return is_copy(static_cast<std::uint64_t>(case_.root), i);
      case Collective::alltoall:
        return is_copy(i / n, me() * n + i % n);
      case Collective::send_recv:
        return is_copy(static_cast<std::uint64_t>(left()), i);
      default:
        break;
    }
    const std::uint64_t at = case_.collective == Collective::reduce_scatter ? me() * n + i : i;
    operands.clear();
    for (int r = 0; r < case_.world; ++r) operands.push_back(value_of<T>(case_, r, at));
    return is_reduced(case_, operands, result);
  }

  const Case case_;
  const Place place_;
  bool in_place_ = false;
  std::uint64_t input_count_ = 0, output_count_ = 0;
  std::uint64_t input_at_ = 0, output_at_ = 0;  // bytes from the start of memory_
  std::vector<std::byte> memory_, before_;
};

}  // namespace hocket::api
