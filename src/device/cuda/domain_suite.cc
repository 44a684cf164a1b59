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
  return fmt::format("{} world {} count {} {} {}{}", name_of(op.row), op.world, op.count,
                     name_of(op.type), name_of(op.op), op.in_place ? " in place" : "");
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

void Ranks::add(std::uint32_t rank) {
  queues_.push_back(std::make_unique<Queue>(gpu_));
  reports_.push_back(std::make_unique<Mapped<kernels::Report>>(gpu_));
  kernels::Domain domain;
  domain.me = rank;
  domain.capacity = capacity_;
  for (std::uint32_t peer = 0; peer < world(); ++peer) {
    domain.mailboxes[peer] = mailboxes_.data() + peer * kernels::Mailbox::bytes(capacity_);
  }
  domain.laps = reinterpret_cast<std::uint32_t*>(words_.data()) + rank * kWords;
  domain.given_up = domain.laps + kernels::kMostBlocks;
  domain.report = reports_.back()->device();
  domain.stop = stop_.device();
  domain.patience_ns = 2'000'000'000;
  domains_.push_back(domain);
}

void Arena::place(const Op& op, const Launch& how) {
  const auto room = [](std::uint64_t bytes) { return (bytes + 192) / 64 * 64; };
  input_ = 64 + how.input_skew;
  output_ = 64 + room(op.input_bytes()) + how.output_skew;
  span_ = output_ - how.output_skew + room(op.output_bytes());
  bytes_ = op.world * span_;
  if (bytes_ > 8 * words_.size()) fail("the arena is too small for " + text(op));
}

bool Arena::is_right(const Op& op, Oracle& oracle) {
  std::byte* const host = std::as_writable_bytes(std::span(words_)).data();
  for (std::uint32_t k = 0; k < op.swaps(); ++k) {
    std::vector<world::Swap> swaps;
    for (std::uint32_t rank = 0; rank < op.world; ++rank) {
      swaps.push_back(swap_of(op, k, rank, buffers(host, rank)));
    }
    oracle.run(swaps);
  }
  return is_as_filled();
}

bool Arena::is_as_filled() {
  found_.resize(bytes_);
  device_.read(found_.data(), bytes_);
  const std::byte* const host = std::as_bytes(std::span(words_)).data();
  const auto [wrong, right] = std::mismatch(found_.begin(), found_.end(), host);
  if (wrong == found_.end()) return true;
  const auto at = static_cast<std::size_t>(wrong - found_.begin());
  fmt::print("rank {}, byte {} of its {} (input at {}, output at {}): {:#04x}, not {:#04x}\n",
             at / span_, at % span_, span_, input_, output_, static_cast<unsigned>(*wrong),
             static_cast<unsigned>(*right));
  return false;
}

}  // namespace hocket::cuda
