// SPDX-License-Identifier: Apache-2.0
// A domain in one process: its ranks are shared out among the GPUs, each has its mailbox, laps and
// stream there, and the kernels of all run at the same time. What an op does to memory is compared
// with what it has to do, byte for byte, over all of the ranks' memory, so that nothing is written
// beside the output either. Included by tests alone.
#pragma once
#include <algorithm>
#include <atomic>
#include <deque>
#include <vector>

#include "base/prng.h"
#include "device/cpu/words_suite.h"
#include "device/cuda/gpu_suite.h"
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

/// What a rank has on its GPU.
struct Rank {
  static constexpr std::size_t kWords = kernels::kMostBlocks + 1;  ///< laps, and given_up

  Rank(const Gpu& gpu, const kernels::Capacity& capacity)
      : mailbox(gpu, kernels::Mailbox::bytes(capacity)),
        words(gpu, kWords * sizeof(std::uint32_t)),
        report(gpu),
        queue(gpu) {}

  Memory mailbox, words;
  Mapped<kernels::Report> report;
  Queue queue;
  kernels::Domain domain;
};

class Ranks {
 public:
  Ranks(const Gpus& gpus, const kernels::Capacity& capacity) : stop_(gpus.of(0)) {
    for (std::uint32_t rank = 0; rank < capacity.world; ++rank) {
      ranks_.emplace_back(gpus.of(rank), capacity);
    }
    for (std::uint32_t rank = 0; rank < capacity.world; ++rank) connect(rank, capacity);
  }

  std::uint32_t world() const { return static_cast<std::uint32_t>(ranks_.size()); }
  Rank& at(std::uint32_t rank) { return ranks_[rank]; }
  Queue& queue(std::uint32_t rank) { return ranks_[rank].queue; }
  const kernels::Report& report(std::uint32_t rank) const { return *ranks_[rank].report.host(); }
  void stop() { std::atomic_ref(*stop_.host()).store(1); }
  void set_patience(std::uint64_t nanoseconds) {
    for (Rank& rank : ranks_) rank.domain.patience_ns = nanoseconds;
  }

  /// As new, after something failed.
  void reset() {
    *stop_.host() = 0;
    for (Rank& rank : ranks_) {
      rank.mailbox.clear();
      rank.words.clear();
      *rank.report.host() = {};
    }
  }

  void launch(const Op& op, const Launch& how, std::uint32_t rank, const Buffers& buffers) {
    for (std::uint32_t k = 0; k < op.swaps(); ++k) {
      const world::Action action = {.lowering = how.lowering,
                                    .blocks = how.blocks,
                                    .threads = how.threads,
                                    .signature = how.signature,
                                    .swap = swap_of(op, k, rank, buffers)};
      queue(rank).launch(ranks_[rank].domain, action);
    }
  }

  void wait() {
    for (Rank& rank : ranks_) rank.queue.wait();
  }
  /// Whether nobody gave up; else says who.
  bool is_well() const;

 private:
  void connect(std::uint32_t rank, const kernels::Capacity& capacity);

  Mapped<std::uint32_t> stop_;
  std::deque<Rank> ranks_;
};

/// The buffers of all ranks for one op, on their GPUs and twice on the host: before and after.
class Arena {
 public:
  /// `bytes` is the room of one rank.
  Arena(const Gpus& gpus, std::uint32_t world, std::size_t bytes) : words_(world * bytes / 8) {
    for (std::uint32_t rank = 0; rank < world; ++rank) memory_.emplace_back(gpus.of(rank), bytes);
  }

  void place(const Op& op, const Launch& how);
  Buffers device(std::uint32_t rank) const { return buffers(memory_[rank].data()); }
  /// Fresh bytes in all of it.
  void fill(Prng& random, DataType type);
  /// Whether the GPUs hold what `op` makes of the bytes that they were filled with.
  bool is_right(const Op& op, Oracle& oracle);
  /// Whether the GPUs hold what the host does; else says where not.
  bool is_as_filled();

 private:
  Buffers buffers(std::byte* begin) const { return {begin + input_, begin + output_}; }
  std::byte* host(std::uint32_t rank) {
    return std::as_writable_bytes(std::span(words_)).data() + rank * span_;
  }

  std::deque<Memory> memory_;         ///< by rank
  std::vector<std::uint64_t> words_;  ///< spans of the ranks of the op that is placed, as found_
  std::vector<std::byte> found_;
  std::uint32_t world_ = 0;
  std::size_t input_ = 0, output_ = 0, span_ = 0;
};

}  // namespace hocket::cuda
