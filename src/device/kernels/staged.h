// SPDX-License-Identifier: Apache-2.0
// A swap through staging: every block pushes its share of each part into the peers' mailboxes by
// plain stores, raises one flag for it, waits for the flags of the peers' blocks of its number, and
// takes what those have pushed. For medium parts, where packets would move twice the bytes and
// rendezvous costs more than a copy.
//
// Grid: any of 32 threads a block or more, the same on all ranks. A thread handles the same vectors
// of 16 bytes in both phases, wherever the user's part begins, so that input and output may
// coincide. Memory order: the flag is released after all threads of its block have stored, and
// acquired before all threads of the other load.
// Roofline: each byte crosses the link once, is written once and read twice; floor 5 us.
#pragma once
#include <concepts>

#include "device/kernels/domain.h"
#include "device/kernels/element.h"
#include "device/kernels/part.h"

namespace hocket::kernels {

template <class Element, class Thread>
class StagedSwap {
 public:
  HOCKET_DEVICE StagedSwap(Thread& thread, const Domain& domain, const world::Action& action)
      : thread_(thread),
        domain_(domain),
        swap_(action.swap),
        element_(domain.capacity.world),
        share_(thread),
        signature_(action.signature),
        size_(Element::size(action.swap.type)) {}

  HOCKET_DEVICE void run() {
    for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) push(hop(domain_, k));
    lap_ = next_lap();
    thread_.sync();
    // One thread for each peer, here and below.
    const std::uint32_t k = thread_.thread() + 1;
    if (k < domain_.capacity.world) {
      thread_.store_flag(flag(hop(domain_, k), domain_.me), {lap_, signature_});
    }
    if constexpr (std::same_as<Element, Verbatim>) store_own();
    if (thread_.sync(k >= domain_.capacity.world || is_flagged(hop(domain_, k)))) take();
    end_lap(thread_, domain_, lap_);
  }

 private:
  static constexpr std::uint32_t kUnit = sizeof(Vector);
  using Source = Part<const std::byte, kUnit>;
  using Target = Part<std::byte, kUnit>;
  template <class Tile>
  struct Vectors {
    Vector vector[Tile::kCount];
  };

  HOCKET_DEVICE std::uint32_t next_lap() const {
    return kernels::next_lap(thread_.load_lap(domain_.laps + thread_.block()));
  }
  HOCKET_DEVICE Flag* flag(std::uint32_t rank, std::uint32_t from) const {
    return mailbox(domain_, rank).flags(lap_, from) + thread_.block();
  }
  /// What is short, or not aligned, as two words.
  HOCKET_DEVICE Vector load_slowly(const std::byte* from, std::uint32_t bytes) const {
    const std::uint32_t low = bytes < 8 ? bytes : 8;
    return {thread_.load(from, low), thread_.load(from + low, bytes - low)};
  }
  HOCKET_DEVICE void store_slowly(std::byte* to, const Vector& vector, std::uint32_t bytes) const {
    const std::uint32_t low = bytes < 8 ? bytes : 8;
    thread_.store(to, vector.low, low);
    thread_.store(to + low, vector.high, bytes - low);
  }

  template <class Tile>
  HOCKET_DEVICE Vectors<Tile> load(const Source& part, const Tile& tile) const {
    Vectors<Tile> vectors;
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
      const std::uint32_t i = tile.unit(u);
      vectors.vector[u] = {};
      if (!tile.has(u)) continue;
      if constexpr (Tile::kIsWhole) {
        vectors.vector[u] = thread_.load_vector(part.unit(i));
      } else {
        vectors.vector[u] = load_slowly(part.unit(i), part.size(i));
      }
    }
    HOCKET_UNROLL
    for (Vector& v : vectors.vector) v = {element_.before(v.low), element_.before(v.high)};
    return vectors;
  }

  template <class Tile>
  HOCKET_DEVICE void store(const Target& part, const Tile& tile,
                           const Vectors<Tile>& vectors) const {
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
      const std::uint32_t i = tile.unit(u);
      if (!tile.has(u)) continue;
      if constexpr (Tile::kIsWhole) {
        thread_.store_vector(part.unit(i), vectors.vector[u]);
      } else {
        store_slowly(part.unit(i), vectors.vector[u], part.size(i));
      }
    }
  }

  HOCKET_DEVICE void push(std::uint32_t to) const {
    const Source part = sent_part<kUnit>(swap_, to, size_);
    share_.each(part.whole, part.units, [&](const auto& tile) {
      const auto vectors = load(part, tile);
      // Only now, so that nobody waits for the lap before the vectors are on their way.
      std::byte* const slot = mailbox(domain_, to).staging(next_lap(), domain_.me);
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < tile.kCount; ++u) {
        if (tile.has(u)) {
          thread_.store_vector(slot + std::uint64_t{kUnit} * tile.unit(u), vectors.vector[u]);
        }
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
  HOCKET_DEVICE Vectors<Tile> staged(std::uint32_t from, const Tile& tile) const {
    const std::byte* const slot = mailbox(domain_, domain_.me).staging(lap_, from);
    Vectors<Tile> vectors;
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
      vectors.vector[u] = {};
      if (!tile.has(u)) continue;
      vectors.vector[u] = thread_.load_vector(slot + std::uint64_t{kUnit} * tile.unit(u));
    }
    return vectors;
  }

  HOCKET_DEVICE void store_own() const {
    const Source mine = sent_part<kUnit>(swap_, domain_.me, size_);
    const Target part = received_part<kUnit>(swap_, domain_.me, size_);
    if (part.begin == mine.begin) return;
    share_.each(common_whole(mine, part), part.units, [&](const auto& tile) {
      store(part, tile, load(mine, tile));
      return true;
    });
  }

  HOCKET_DEVICE void take() const {
    if constexpr (std::same_as<Element, Verbatim>) {
      for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) {
        store_from(source(domain_, swap_.combine, k));
      }
    } else {
      fold();
    }
  }

  HOCKET_DEVICE void store_from(std::uint32_t from) const {
    const Target part = received_part<kUnit>(swap_, from, size_);
    share_.each(part.whole, part.units, [&](const auto& tile) {
      store(part, tile, staged(from, tile));
      return true;
    });
  }

  HOCKET_DEVICE void fold() const {
    const Source mine = sent_part<kUnit>(swap_, domain_.me, size_);
    const Target part = received_part<kUnit>(swap_, domain_.me, size_);
    share_.each(common_whole(mine, part), part.units, [&]<class Tile>(const Tile& tile) {
      const Vectors<Tile> own = load(mine, tile);
      Vectors<Tile> sum = own;
      for (std::uint32_t k = 0; k < domain_.capacity.world; ++k) {
        const std::uint32_t from = source(domain_, swap_.combine, k);
        const Vectors<Tile> vectors = from == domain_.me ? own : staged(from, tile);
        HOCKET_UNROLL
        for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
          sum.vector[u] = k == 0 ? vectors.vector[u] : folded(sum.vector[u], vectors.vector[u]);
        }
      }
      HOCKET_UNROLL
      for (Vector& v : sum.vector) v = {element_.after(v.low), element_.after(v.high)};
      store(part, tile, sum);
      return true;
    });
  }
  HOCKET_DEVICE Vector folded(const Vector& a, const Vector& b) const {
    return {element_.fold(a.low, b.low), element_.fold(a.high, b.high)};
  }

  Thread& thread_;
  const Domain& domain_;
  const world::Swap& swap_;
  const Element element_;
  const Share share_;
  std::uint32_t lap_ = 0;
  const std::uint32_t signature_;  ///< with the lap, tells this op's flags from all others
  const std::uint32_t size_;       ///< bytes of an element
};

}  // namespace hocket::kernels
