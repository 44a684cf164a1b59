// SPDX-License-Identifier: Apache-2.0
// A swap through staging: every block pushes its share of each part into the peers' mailboxes by
// plain stores, raises one flag for it, waits for the flags of the peers' blocks of its number, and
// takes what those have pushed. For medium parts, where packets would move twice the bytes and
// rendezvous costs more than a copy. Parts longer than staging go through it in windows, each a lap
// of its own: the flag of a block for the next window also says that it has taken the one before,
// so the two halves suffice as they do from op to op.
//
// Grid: any of 32 threads a block or more, the same on all ranks. A thread handles the same vectors
// of 16 bytes in both phases, wherever the user's part begins, so that input and output may
// coincide. Memory order: the flag is released after all threads of its block have stored, and
// acquired before all threads of the other load.
// Roofline: each byte crosses the link once, is written once and read twice; floor 5 us.
#pragma once
#include <concepts>

#include "device/kernels/ends.h"

namespace hocket::kernels {

template <class Element, class Thread>
class StagedSwap {
 public:
  HOCKET_DEVICE StagedSwap(Thread& thread, const Domain& domain, const world::Action& action)
      : thread_(thread),
        domain_(domain),
        combine_(action.swap.combine),
        ends_(thread, domain, action),
        windows_(action.windows),
        signature_(action.signature) {}

  HOCKET_DEVICE void run() {
    const std::uint32_t room = static_cast<std::uint32_t>(domain_.capacity.staged / Ends::kUnit);
    window_.end = room;
    push_to_all();
    lap_ = current_lap(thread_, domain_);
    bool is_good = signal_and_wait();
    for (std::uint32_t left = windows_; is_good && --left > 0;) {
      take();
      window_ = {window_.end, window_.end + room};
      lap_ = next_lap(lap_);
      push_to_all();
      is_good = signal_and_wait();
    }
    if (is_good) take();
    end_lap(thread_, domain_, lap_);
  }

 private:
  using Ends = kernels::Ends<VectorUnits, Element, Thread>;

  HOCKET_DEVICE void push_to_all() const {
    for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) push(hop(domain_, k));
  }

  /// The window is pushed; once the peers' blocks say the same, theirs is here. One thread for each
  /// peer.
  HOCKET_DEVICE bool signal_and_wait() const {
    thread_.sync();
    const std::uint32_t k = thread_.thread() + 1;
    if (k < domain_.capacity.world) {
      thread_.store_flag(flag(hop(domain_, k), domain_.me), {lap_, signature_});
    }
    if constexpr (std::same_as<Element, Verbatim>) {
      if (window_.begin == 0) ends_.store_own();
    }
    return thread_.sync(k >= domain_.capacity.world || is_flagged(hop(domain_, k)));
  }

  HOCKET_DEVICE Flag* flag(std::uint32_t rank, std::uint32_t from) const {
    return mailbox(domain_, rank).flags(lap_, from) + thread_.block();
  }

  HOCKET_DEVICE void push(std::uint32_t to) const {
    const auto part = ends_.sent(to);
    ends_.share().each(window_, part.whole, part.units, [&](const auto& tile) {
      const auto vectors = ends_.load(part, tile);
      // Only now, so that nobody waits for the first lap before the vectors are on their way.
      const std::uint32_t lap = lap_ != 0 ? lap_ : current_lap(thread_, domain_);
      std::byte* const slot = mailbox(domain_, to).staging(lap, domain_.me);
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < tile.kCount; ++u) {
        if (tile.has(u)) thread_.store_vector(slot + place(tile.unit(u)), vectors.unit[u]);
      }
      return true;
    });
  }

  /// Waits for that rank's block of our number; false: gave up, and said why.
  HOCKET_DEVICE bool is_flagged(std::uint32_t from) const {
    const Flag* const place = flag(domain_.me, from);
    Flag seen = thread_.load_flag(place);
    for (std::uint32_t spins = 1; seen.lap != lap_; ++spins) {
      if (!thread_.patient(spins, domain_, from, lap_)) return false;
      seen = thread_.load_flag(place);
    }
    if (seen.signature == signature_) return true;
    thread_.report(domain_, {from, lap_, seen.signature, Report::mismatch});
    return false;
  }

  template <class Tile>
  HOCKET_DEVICE auto staged(std::uint32_t from, const Tile& tile) const {
    const std::byte* const slot = mailbox(domain_, domain_.me).staging(lap_, from);
    typename Ends::template Units<Tile> vectors;
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
      vectors.unit[u] = {};
      if (tile.has(u)) vectors.unit[u] = thread_.load_vector(slot + place(tile.unit(u)));
    }
    return vectors;
  }
  HOCKET_DEVICE std::uint64_t place(std::uint32_t unit) const {
    return std::uint64_t{Ends::kUnit} * (unit - window_.begin);
  }

  HOCKET_DEVICE void take() const {
    if constexpr (std::same_as<Element, Verbatim>) {
      for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) {
        store_from(source(domain_, combine_, k));
      }
    } else {
      ends_.fold(ends_.own(), ends_.result(), window_,
                 [&](std::uint32_t from, const auto& tile, auto& vectors) {
                   vectors = staged(from, tile);
                   return true;
                 });
    }
  }

  HOCKET_DEVICE void store_from(std::uint32_t from) const {
    const auto part = ends_.received(from);
    ends_.share().each(window_, part.whole, part.units, [&](const auto& tile) {
      ends_.store(part, tile, staged(from, tile));
      return true;
    });
  }

  Thread& thread_;
  const Domain& domain_;
  const world::Combine combine_;
  const Ends ends_;
  const std::uint32_t windows_;
  const std::uint32_t signature_;  ///< with the lap, tells this op's flags from all others
  std::uint32_t lap_ = 0;          ///< 0: not known yet
  Window window_;
};

}  // namespace hocket::kernels
