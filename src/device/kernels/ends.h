// SPDX-License-Identifier: Apache-2.0
// The two ends of a swap, which are the user's buffers: whatever way the bytes travel, tiles of
// units are read from the input, folded, and stored into the output here. Units are words, or
// vectors of two.
//
// Threads: a value of one thread of the launch. Ownership: borrows thread, domain and action.
#pragma once
#include "device/kernels/domain.h"
#include "device/kernels/element.h"
#include "device/kernels/part.h"

namespace hocket::kernels {

/// How a unit is read and written: whole and aligned, or some bytes of it, slowly; and what is done
/// to its words.
struct WordUnits {
  using Unit = std::uint64_t;
  template <class Thread>
  HOCKET_DEVICE static Unit load(Thread& thread, const std::byte* from) {
    return thread.load_word(from);
  }
  template <class Thread>
  HOCKET_DEVICE static void store(Thread& thread, std::byte* to, Unit unit) {
    thread.store_word(to, unit);
  }
  template <class Thread>
  HOCKET_DEVICE static Unit load(Thread& thread, const std::byte* from, std::uint32_t bytes) {
    return thread.load(from, bytes);
  }
  template <class Thread>
  HOCKET_DEVICE static void store(Thread& thread, std::byte* to, Unit unit, std::uint32_t bytes) {
    thread.store(to, unit, bytes);
  }
  template <class F, class... Words>
  HOCKET_DEVICE static Unit map(const F& f, Words... units) {
    return f(units...);
  }
};

struct VectorUnits {
  using Unit = Vector;
  template <class Thread>
  HOCKET_DEVICE static Unit load(Thread& thread, const std::byte* from) {
    return thread.load_vector(from);
  }
  template <class Thread>
  HOCKET_DEVICE static void store(Thread& thread, std::byte* to, const Unit& unit) {
    thread.store_vector(to, unit);
  }
  template <class Thread>
  HOCKET_DEVICE static Unit load(Thread& thread, const std::byte* from, std::uint32_t bytes) {
    const std::uint32_t low = bytes < 8 ? bytes : 8;
    return {thread.load(from, low), thread.load(from + low, bytes - low)};
  }
  template <class Thread>
  HOCKET_DEVICE static void store(Thread& thread, std::byte* to, const Unit& unit,
                                  std::uint32_t bytes) {
    const std::uint32_t low = bytes < 8 ? bytes : 8;
    thread.store(to, unit.low, low);
    thread.store(to + low, unit.high, bytes - low);
  }
  template <class F, class... Vectors>
  HOCKET_DEVICE static Unit map(const F& f, const Vectors&... units) {
    return {f(units.low...), f(units.high...)};
  }
};

template <class Access, class Tile>
struct UnitsOf {
  typename Access::Unit unit[Tile::kCount];
};

/// A tile of a part of the user's.
template <class Access, class Thread, class Source, class Tile>
HOCKET_DEVICE UnitsOf<Access, Tile> load_units(Thread& thread, const Source& part,
                                               const Tile& tile) {
  UnitsOf<Access, Tile> units;
  HOCKET_UNROLL
  for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
    const std::uint32_t i = tile.unit(u);
    units.unit[u] = {};
    if (!tile.has(u)) continue;
    if constexpr (Tile::kIsWhole) {
      units.unit[u] = Access::load(thread, part.unit(i));
    } else {
      units.unit[u] = Access::load(thread, part.unit(i), part.size(i));
    }
  }
  return units;
}
template <class Access, class Thread, class Target, class Tile>
HOCKET_DEVICE void store_units(Thread& thread, const Target& part, const Tile& tile,
                               const UnitsOf<Access, Tile>& units) {
  HOCKET_UNROLL
  for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
    const std::uint32_t i = tile.unit(u);
    if (!tile.has(u)) continue;
    if constexpr (Tile::kIsWhole) {
      Access::store(thread, part.unit(i), units.unit[u]);
    } else {
      Access::store(thread, part.unit(i), units.unit[u], part.size(i));
    }
  }
}

template <class Access, class Element, class Thread>
class Ends {
 public:
  using Unit = typename Access::Unit;
  static constexpr std::uint32_t kUnit = sizeof(Unit);
  using Source = Part<const std::byte, kUnit>;
  using Target = Part<std::byte, kUnit>;
  template <class Tile>
  using Units = UnitsOf<Access, Tile>;

  HOCKET_DEVICE Ends(Thread& thread, const Domain& domain, const world::Action& action)
      : thread_(thread),
        domain_(domain),
        swap_(action.swap),
        element_(action.swap.type, action.swap.op, domain.capacity.world),
        share_(thread),
        size_(Element::size(action.swap.type)) {}

  HOCKET_DEVICE const Share& share() const { return share_; }
  HOCKET_DEVICE Source sent(std::uint32_t rank) const {
    return sent_part<kUnit>(swap_, rank, size_);
  }
  HOCKET_DEVICE Target received(std::uint32_t rank) const {
    return received_part<kUnit>(swap_, rank, size_);
  }

  /// Of a fold: what comes of it, and the own operand, which is as long.
  HOCKET_DEVICE Target result() const { return {swap_.output, swap_.received.size * size_}; }
  HOCKET_DEVICE Source own() const {
    return {swap_.input + swap_.sent.begin(domain_.me) * size_, swap_.received.size * size_};
  }

  template <class Tile>
  HOCKET_DEVICE Units<Tile> load(const Source& part, const Tile& tile) const {
    Units<Tile> units = load_units<Access>(thread_, part, tile);
    const auto before = [this](std::uint64_t word) { return element_.before(word); };
    HOCKET_UNROLL
    for (Unit& unit : units.unit) unit = Access::map(before, unit);
    return units;
  }

  template <class Tile>
  HOCKET_DEVICE void store(const Target& part, const Tile& tile, const Units<Tile>& units) const {
    store_units<Access>(thread_, part, tile, units);
  }

  HOCKET_DEVICE void store_own() const {
    const Source mine = sent(domain_.me);
    const Target part = received(domain_.me);
    if (part.begin == mine.begin) return;
    share_.each(common_whole(mine, part), part.units, [&](const auto& tile) {
      store(part, tile, load(mine, tile));
      return true;
    });
  }

  /// Into the window of `part`; arrived(rank, tile, units) brings another rank's units, or returns
  /// false to end.
  template <class Arrived>
  HOCKET_DEVICE void fold(const Source& mine, const Target& part, const Window& window,
                          const Arrived& arrived) const {
    const auto both = [this](std::uint64_t a, std::uint64_t b) { return element_.fold(a, b); };
    const auto after = [this](std::uint64_t word) { return element_.after(word); };
    share_.each(window, common_whole(mine, part), part.units, [&]<class Tile>(const Tile& tile) {
      const Units<Tile> own = load(mine, tile);
      Units<Tile> sum = own;
      for (std::uint32_t k = 0; k < domain_.capacity.world; ++k) {
        const std::uint32_t from = source(domain_, swap_.combine, k);
        Units<Tile> units = own;
        if (from != domain_.me && !arrived(from, tile, units)) return false;
        HOCKET_UNROLL
        for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
          sum.unit[u] = k == 0 ? units.unit[u] : Access::map(both, sum.unit[u], units.unit[u]);
        }
      }
      HOCKET_UNROLL
      for (Unit& unit : sum.unit) unit = Access::map(after, unit);
      store(part, tile, sum);
      return true;
    });
  }

 private:
  Thread& thread_;
  const Domain& domain_;
  const world::Swap& swap_;
  const Element element_;
  const Share share_;
  const std::uint32_t size_;  ///< bytes of an element
};

}  // namespace hocket::kernels
