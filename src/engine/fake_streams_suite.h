// SPDX-License-Identifier: Apache-2.0
// A device for ops on streams that a test holds in its hands. Threads: the test's. Included by
// tests alone.
#pragma once
#include <optional>
#include <vector>

#include "world/stream_device.h"

namespace hocket::engine::fake {

/// Keeps what it is given to enqueue; fails when told.
class StreamDevice final : public world::StreamDevice {
 public:
  std::uint64_t holds(world::Lowering lowering) const override {
    return lowering == world::Lowering::packet ? packet : staged;
  }
  world::Lowering lowering_of(std::uint64_t message) const override {
    return message <= packet ? world::Lowering::packet : world::Lowering::staged;
  }
  std::uint32_t most_blocks() const override { return blocks; }
  Result<void> enqueue(world::Stream stream, std::span<const world::Action> actions) override {
    streams.push_back(stream.handle);
    all.insert(all.end(), actions.begin(), actions.end());
    return kOk;
  }
  Result<void> enqueue(world::Stream stream, std::span<const world::Transfers> groups) override {
    streams.push_back(stream.handle);
    transfers.insert(transfers.end(), groups.begin(), groups.end());
    return kOk;
  }
  Result<std::byte*> scratch(std::uint64_t bytes) override {
    scratch_memory.resize(bytes);
    return scratch_memory.data();
  }
  std::optional<Error> failure() override {
    if (!broken) return std::nullopt;
    return broken->clone();
  }
  void stop() override { stopped = true; }
  Result<void> drain() override { return kOk; }

  std::uint64_t packet = 64 << 10, staged = 1 << 20;
  std::uint32_t blocks = 64;
  std::vector<world::Action> all;
  std::vector<world::Transfers> transfers;
  std::vector<void*> streams;
  std::vector<std::byte> scratch_memory;
  std::optional<Error> broken;
  bool stopped = false;
};

}  // namespace hocket::engine::fake
