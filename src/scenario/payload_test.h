// SPDX-License-Identifier: Apache-2.0
// Real bytes for tests of simulated collectives: small integers, so that sums are the same in any
// order, the buffers of all ranks, and what must be in them afterwards. Included by tests only.
// Threads: one. Ownership: owns the buffers. Cost: O(world * bytes).
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "plan/request.h"
#include "world/device.h"

namespace hocket::scenario {

/// Sums of int32, copies; at once.
class PlainDevice final : public world::Device {
 public:
  bool fold(world::Waiter&, const world::Fold& fold) override {
    for (std::uint64_t at = 0; at < fold.target.size; at += sizeof(std::int32_t)) {
      const std::int32_t sum = load(fold.local.data + at) + load(fold.arrived.data + at);
      std::memcpy(fold.target.data + at, &sum, sizeof sum);
    }
    return true;
  }
  bool copy(world::Waiter&, Bytes target, ConstBytes source) override {
    std::memmove(target.data, source.data, target.size);
    return true;
  }
  bool scale(world::Waiter&, const world::Scale& scale) override {
    for (std::uint64_t at = 0; at < scale.target.size; at += sizeof(std::int32_t)) {
      const std::int32_t part = load(scale.source.data + at) / static_cast<int>(scale.divisor);
      std::memcpy(scale.target.data + at, &part, sizeof part);
    }
    return true;
  }
  Result<Bytes> allocate(std::uint64_t bytes) override {
    scratch_.push_back(std::vector<std::byte>(bytes));
    return Bytes{scratch_.back().data(), bytes};
  }
  void free(Bytes) override {}

 private:
  static std::int32_t load(const std::byte* at) {
    std::int32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::vector<std::vector<std::byte>> scratch_;
};

class Payload {
 public:
  Payload(const Request& request, std::uint32_t world) : request_(request), world_(world) {
    const std::uint64_t whole = request.count * (request.block_per_rank() ? world : 1);
    const bool gathers = request.collective == Collective::all_gather;
    const bool scatters = request.collective == Collective::reduce_scatter;
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      const std::uint64_t in = gathers ? request.count : whole;
      const std::uint64_t out = scatters ? request.count : whole;
      std::vector<std::int32_t>& output = outputs_.emplace_back(out, -1);
      std::vector<std::int32_t>& input = inputs_.emplace_back(in);
      for (std::uint64_t i = 0; i < in; ++i) input[i] = given(rank, i);
      if (!request.in_place) continue;
      if (scatters) output = input;  // the block is the rank's own part of the input
      if (!scatters)
        std::copy(input.begin(), input.end(),
                  output.begin() + static_cast<std::ptrdiff_t>(gathers ? rank * request.count : 0));
    }
  }
  std::vector<const std::byte*> inputs() {
    std::vector<const std::byte*> all;
    for (std::uint32_t rank = 0; rank < world_; ++rank) {
      const std::int32_t* at = inputs_[rank].data();
      if (request_.in_place) at = outputs_[rank].data();
      if (request_.in_place && request_.collective == Collective::all_gather)
        at += rank * request_.count;
      all.push_back(reinterpret_cast<const std::byte*>(at));
    }
    return all;
  }
  std::vector<std::byte*> outputs() {
    std::vector<std::byte*> all;
    for (std::uint32_t rank = 0; rank < world_; ++rank)
      all.push_back(reinterpret_cast<std::byte*>(result(rank)));
    return all;
  }
  /// Elements that are not what the collective says.
  std::uint64_t wrong() {
    std::uint64_t count = 0;
    for (std::uint32_t rank = 0; rank < world_; ++rank) {
      if (request_.collective == Collective::reduce && Rank{rank} != request_.root) continue;
      const bool one = request_.collective == Collective::reduce_scatter;
      const std::uint64_t n = one ? request_.count : outputs_[rank].size();
      for (std::uint64_t i = 0; i < n; ++i) count += result(rank)[i] != expected(rank, i);
    }
    return count;
  }

 private:
  static std::int32_t given(std::uint32_t rank, std::uint64_t i) {
    return static_cast<std::int32_t>((rank * 7 + i * 3) % 31);
  }
  std::int32_t* result(std::uint32_t rank) {
    const bool part = request_.in_place && request_.collective == Collective::reduce_scatter;
    return outputs_[rank].data() + (part ? rank * request_.count : 0);
  }
  std::int32_t sum(std::uint64_t i) const {
    std::int32_t sum = 0;
    for (std::uint32_t rank = 0; rank < world_; ++rank) sum += given(rank, i);
    return sum;
  }
  std::int32_t expected(std::uint32_t rank, std::uint64_t i) const {
    const std::uint64_t count = request_.count;
    const auto block = static_cast<std::uint32_t>(i / std::max<std::uint64_t>(count, 1));
    switch (request_.collective) {
      case Collective::all_gather:
        return given(block, i % count);
      case Collective::alltoall:
        return given(block, rank * count + i % count);
      case Collective::broadcast:
        return given(request_.root.value, i);
      case Collective::reduce_scatter:
        return sum(rank * count + i);
      default:
        return sum(i);
    }
  }

  const Request request_;
  const std::uint32_t world_;
  std::vector<std::vector<std::int32_t>> inputs_, outputs_;
};

}  // namespace hocket::scenario
