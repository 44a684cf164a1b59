// SPDX-License-Identifier: Apache-2.0
// A swap by packets: data and flag are one store of 16 bytes, so that a message costs one trip and
// no fence. For small parts: it moves twice the bytes and every thread polls.
//
// Grid: any, the same on all ranks; a thread handles the same words of all parts, in both phases,
// which is why input and output may coincide. Memory order: relaxed, at system scope; the lap in
// the packet is all the order there is. Roofline: one trip over the link, 1.4 us between two H200.
#pragma once
#include <concepts>

#include "device/kernels/ends.h"

namespace hocket::kernels {

template <class Element, class Thread>
class PacketSwap {
 public:
  HOCKET_DEVICE PacketSwap(Thread& thread, const Domain& domain, const world::Action& action)
      : thread_(thread),
        domain_(domain),
        combine_(action.swap.combine),
        ends_(thread, domain, action),
        signature_(action.signature) {}

  HOCKET_DEVICE void run() {
    for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) send(hop(domain_, k));
    lap_ = current_lap(thread_, domain_);
    if constexpr (std::same_as<Element, Verbatim>) {
      ends_.store_own();
      for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) {
        if (!store_from(source(domain_, combine_, k))) break;
      }
    } else {
      fold();
    }
    end_lap(thread_, domain_, lap_);
  }

 private:
  using Ends = kernels::Ends<WordUnits, Element, Thread>;
  template <class Tile>
  using Units = typename Ends::template Units<Tile>;

  /// A part is a packet at least: its signal.
  template <class Part>
  HOCKET_DEVICE static Part signalled(Part part) {
    if (part.units == 0) part.units = 1;
    return part;
  }

  HOCKET_DEVICE void send(std::uint32_t to) const {
    const auto part = signalled(ends_.sent(to));
    ends_.share().each(part.whole, part.units, [&](const auto& tile) {
      const auto words = ends_.load(part, tile);
      // Only now, so that nobody waits for the lap before the words are on their way.
      const std::uint32_t lap = current_lap(thread_, domain_);
      Packet* const slot = mailbox(domain_, to).packets(lap, domain_.me);
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < tile.kCount; ++u) {
        if (tile.has(u)) {
          thread_.store_packet(slot + tile.unit(u), {words.unit[u], lap, signature_});
        }
      }
      return true;
    });
  }

  template <class Tile>
  HOCKET_DEVICE void look(const Packet* slot, const Tile& tile,
                          Packet (&packets)[Tile::kCount]) const {
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
      packets[u] = {0, lap_, signature_};
      if (tile.has(u)) packets[u] = thread_.load_packet(slot + tile.unit(u));
    }
  }

  /// Waits for a tile of that rank's words; false: gave up, and said why. A packet of another op
  /// ends the wait for the others: of a smaller op they never come.
  template <class Tile>
  HOCKET_DEVICE bool take(std::uint32_t from, const Tile& tile, Units<Tile>& words) const {
    const Packet* const slot = mailbox(domain_, domain_.me).packets(lap_, from);
    Packet packets[Tile::kCount];
    for (std::uint32_t spins = 1;; ++spins) {
      look(slot, tile, packets);
      bool are_here = true, are_ours = true;
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
        const bool is_here = packets[u].lap == lap_;
        are_here &= is_here;
        are_ours &= !is_here || packets[u].signature == signature_;
      }
      if (!are_ours) return refuse(from, packets);
      if (are_here) break;
      if (!thread_.patient(spins, domain_, from, lap_)) return false;
    }
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) words.unit[u] = packets[u].data;
    return true;
  }

  template <std::size_t kCount>
  HOCKET_DEVICE bool refuse(std::uint32_t from, const Packet (&packets)[kCount]) const {
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < kCount; ++u) {
      if (packets[u].lap != lap_ || packets[u].signature == signature_) continue;
      thread_.report(domain_, {from, lap_, packets[u].signature, Report::mismatch});
      break;
    }
    return false;
  }

  HOCKET_DEVICE bool store_from(std::uint32_t from) const {
    const auto part = signalled(ends_.received(from));
    return ends_.share().each(part.whole, part.units, [&]<class Tile>(const Tile& tile) {
      Units<Tile> words;
      if (!take(from, tile, words)) return false;
      ends_.store(part, tile, words);
      return true;
    });
  }

  HOCKET_DEVICE void fold() const {
    // Whoever folds nothing hears from all nevertheless.
    const auto part = signalled(ends_.result());
    ends_.fold(
        signalled(ends_.own()), part, Window{0, part.units},
        [&](std::uint32_t from, const auto& tile, auto& words) { return take(from, tile, words); });
  }

  Thread& thread_;
  const Domain& domain_;
  const world::Combine combine_;
  const Ends ends_;
  std::uint32_t lap_ = 0;
  const std::uint32_t signature_;  ///< with the lap, tells this op's packets from all others
};

}  // namespace hocket::kernels
