// SPDX-License-Identifier: Apache-2.0
// A call of the user, and the work it becomes: its plan, its memory, and what avg needs around the
// rounds. avg of floats divides every rank's input first (no overflow), into the output of an
// all_reduce, else into scratch, and the rounds read that; avg of integers divides the sum in the
// output. Threads: values. Ownership: borrows the user's memory and the communicator's scratch.
#pragma once
#include <cstdint>

#include "base/base.h"
#include "plan/plan.h"
#include "world/device.h"

namespace hocket::engine {

/// Null memory with a count: the payload is elided (simulation at scale).
struct Call {
  Request request;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  const Algorithm* algorithm = nullptr;  ///< null: selected
};

struct Work {
  Plan plan;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;
  Work* next = nullptr;  ///< of the same lane

  ConstBytes source(Buffer buffer, std::uint64_t offset, std::uint64_t size) const {
    const std::byte* const base = buffer == Buffer::input     ? input
                                  : buffer == Buffer::scratch ? scratch
                                                              : output;
    return {base != nullptr ? base + offset : nullptr, size};
  }
  /// output or scratch.
  Bytes target(Buffer buffer, std::uint64_t offset, std::uint64_t size) const {
    std::byte* const base = buffer == Buffer::scratch ? scratch : output;
    return {base != nullptr ? base + offset : nullptr, size};
  }

  /// Averages of floats in an all_reduce are divided into the output, and go on in place from
  /// there. Unsupported if what is in place has an algorithm that is not right then.
  Result<void> settle();
  /// Needs division before the rounds; after them.
  bool scales_input() const { return averages() && is_float(plan.request.type); }
  bool divides_output(Rank me) const;
  /// What the two steps do. The target of the first becomes the input of the rounds.
  world::Scale scale_input() const;
  world::Scale divide_output() const;
  /// Bytes, a multiple of 64: the plan's scratch, then the scaled input unless that goes to the
  /// output.
  std::uint64_t scratch_bytes() const { return plan_scratch() + input_scratch(); }

 private:
  bool averages() const;
  std::uint64_t plan_scratch() const;
  std::uint64_t input_scratch() const;
  std::uint64_t input_bytes() const;
  std::uint64_t output_bytes() const;
};

/// Unsupported if its request is in place and its algorithm not right then.
Result<void> check_in_place(const Plan& plan);

/// Messages to oneself: whether that receive takes that send, and what is said of one alone.
bool takes(const Request& receive, const Request& send);
Error unreceived(const Request& send);
Error unsent(const Request& receive);

}  // namespace hocket::engine
