// SPDX-License-Identifier: Apache-2.0
// A domain whose ranks share one GPU: each has its mailbox, laps and stream, and the kernels of all
// run at the same time. What an op does to memory is compared with what it has to do, byte for
// byte, over all of the ranks' memory, so that nothing is written beside the output either.
// Included by tests alone.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "device/cpu/words_suite.h"
#include "device/cuda/gpu_suite.h"
#include "device/cuda/module.h"
#include "device/cuda/swaps_suite.h"

namespace hocket::cuda {

/// How an op is run.
struct Launch {
  world::Lowering lowering = world::Lowering::packet;
  std::uint32_t blocks = 1, threads = 32;
  std::uint32_t signature = 1;
  std::uint32_t input_skew = 0, output_skew = 0;  ///< bytes beyond an alignment of 64
};

std::string text(const Launch& how);
std::string text(const Op& op);

class Ranks {
 public:
  Ranks(const Gpu& gpu, const Module& module, const kernels::Capacity& capacity)
      : gpu_(gpu),
        module_(module),
        capacity_(capacity),
        mailboxes_(gpu, capacity.world * kernels::Mailbox::bytes(capacity)),
        words_(gpu, capacity.world * kWords * sizeof(std::uint32_t)),
        stop_(gpu) {
    for (std::uint32_t rank = 0; rank < capacity.world; ++rank) add(rank);
  }

  std::uint32_t world() const { return capacity_.world; }
  Queue& queue(std::uint32_t rank) { return *queues_[rank]; }
  const kernels::Report& report(std::uint32_t rank) const { return *reports_[rank]->host(); }
  void stop() { std::atomic_ref(*stop_.host()).store(1); }
  void set_patience(std::uint64_t nanoseconds) {
    for (kernels::Domain& domain : domains_) domain.patience_ns = nanoseconds;
  }

  /// As new, after something failed.
  void reset() {
    mailboxes_.clear();
    words_.clear();
    *stop_.host() = 0;
    for (const auto& report : reports_) *report->host() = {};
  }

  void launch(const Op& op, const Launch& how, std::uint32_t rank, const Buffers& buffers) {
    for (std::uint32_t k = 0; k < op.swaps(); ++k) {
      const world::Action action = {.lowering = how.lowering,
                                    .blocks = how.blocks,
                                    .threads = how.threads,
                                    .signature = how.signature,
                                    .swap = swap_of(op, k, rank, buffers)};
      must(module_.launch(queue(rank).stream(), domains_[rank], action));
    }
  }

  void wait() {
    for (const auto& queue : queues_) queue->wait();
  }
  /// Whether nobody gave up; else says who.
  bool is_well() const;

 private:
  static constexpr std::size_t kWords = kernels::kMostBlocks + 1;  ///< laps, and given_up

  void add(std::uint32_t rank);

  const Gpu& gpu_;
  const Module& module_;
  kernels::Capacity capacity_;
  Memory mailboxes_, words_;
  Mapped<std::uint32_t> stop_;
  std::vector<std::unique_ptr<Mapped<kernels::Report>>> reports_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<kernels::Domain> domains_;
};

/// The buffers of all ranks for one op, on the device and twice on the host: before and after.
class Arena {
 public:
  Arena(const Gpu& gpu, std::size_t bytes) : device_(gpu, bytes), words_(bytes / 8) {}

  void place(const Op& op, const Launch& how);
  Buffers device(std::uint32_t rank) const { return buffers(device_.data(), rank); }
  /// Fresh bytes in all of it.
  void fill(Prng& random, DataType type) {
    cpu::fill(std::span(words_).first(bytes_ / 8), random, type);
    device_.write(words_.data(), bytes_);
  }
  /// Whether the device holds what `op` makes of the bytes that it was filled with.
  bool is_right(const Op& op, Oracle& oracle);
  /// Whether the device holds what the host does; else says where not.
  bool is_as_filled();

 private:
  Buffers buffers(std::byte* base, std::uint32_t rank) const {
    return {base + rank * span_ + input_, base + rank * span_ + output_};
  }

  Memory device_;
  std::vector<std::uint64_t> words_;
  std::vector<std::byte> found_;
  std::size_t input_ = 0, output_ = 0, span_ = 0, bytes_ = 0;
};

}  // namespace hocket::cuda
