// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/domain_suite.h"

#include <fmt/format.h>

#include <algorithm>

namespace hocket::cuda {

std::string text(const Launch& how) {
  return fmt::format("{} {}x{} skew {}/{}", name_of(how.lowering), how.blocks, how.threads,
                     how.input_skew, how.output_skew);
}

std::string text(const Op& op) {
  return fmt::format("{} world {} root {} count {} {} {}{}", name_of(op.row), op.world, op.root,
                     op.count, name_of(op.type), name_of(op.op), op.in_place ? " in place" : "");
}

bool Ranks::is_well() const {
  for (std::uint32_t rank = 0; rank < world(); ++rank) {
    const kernels::Report& r = report(rank);
    if (r.code == kernels::Report::none) continue;
    fmt::print("rank {} gave up: code {} peer {} lap {} seen {:#x}\n", rank, r.code, r.peer, r.lap,
               r.seen);
    return false;
  }
  return true;
}

void Ranks::connect(std::uint32_t rank, const kernels::Capacity& capacity) {
  Rank& me = ranks_[rank];
  me.domain.me = rank;
  me.domain.capacity = capacity;
  for (std::uint32_t peer = 0; peer < world(); ++peer) {
    me.domain.mailboxes[peer] = ranks_[peer].mailbox.data();
  }
  me.domain.laps = reinterpret_cast<std::uint32_t*>(me.words.data());
  me.domain.given_up = me.domain.laps + kernels::kMostBlocks;
  me.domain.report = me.report.device();
  me.domain.stop = stop_.device();
  me.domain.patience_ns = 2'000'000'000;
}

void Arena::place(const Op& op, const Launch& how) {
  const auto room = [](std::uint64_t bytes) { return (bytes + 192) / 64 * 64; };
  world_ = op.world;
  input_ = 64 + how.input_skew;
  output_ = 64 + room(op.input_bytes()) + how.output_skew;
  span_ = output_ - how.output_skew + room(op.output_bytes());
  if (world_ > memory_.size() || span_ > memory_.front().size()) {
    fail("the arena is too small for " + text(op));
  }
}

void Arena::fill(Prng& random, DataType type) {
  cpu::fill(std::span(words_).first(world_ * span_ / 8), random, type);
  for (std::uint32_t rank = 0; rank < world_; ++rank) memory_[rank].write(host(rank), span_);
}

bool Arena::is_right(const Op& op, Oracle& oracle) {
  for (std::uint32_t k = 0; k < op.swaps(); ++k) {
    std::vector<world::Swap> swaps;
    for (std::uint32_t rank = 0; rank < op.world; ++rank) {
      swaps.push_back(swap_of(op, k, rank, buffers(host(rank))));
    }
    oracle.run(swaps);
  }
  return is_as_filled();
}

bool Arena::is_as_filled() {
  found_.resize(world_ * span_);
  for (std::uint32_t rank = 0; rank < world_; ++rank) {
    memory_[rank].read(found_.data() + rank * span_, span_);
  }
  const auto [wrong, right] = std::mismatch(found_.begin(), found_.end(), host(0));
  if (wrong == found_.end()) return true;
  const auto at = static_cast<std::size_t>(wrong - found_.begin());
  fmt::print("rank {}, byte {} of its {} (input at {}, output at {}): {:#04x}, not {:#04x}\n",
             at / span_, at % span_, span_, input_, output_, static_cast<unsigned>(*wrong),
             static_cast<unsigned>(*right));
  return false;
}

}  // namespace hocket::cuda
