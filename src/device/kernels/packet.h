// SPDX-License-Identifier: Apache-2.0
// A swap by packets: data and flag are one store of 16 bytes, so that a message costs one trip and
// no fence. For small parts: it moves twice the bytes and every thread polls.
//
// Grid: any, the same on all ranks; a thread handles the same words of all parts, in both phases,
// which is why input and output may coincide. Memory order: relaxed, at system scope; the lap in
// the packet is all the order there is. Roofline: one trip over the link, 1.4 us between two H200.
#pragma once
#include <concepts>

#include "device/kernels/domain.h"
#include "device/kernels/element.h"
#include "device/kernels/part.h"

namespace hocket::kernels {

template <class Element, class Thread>
class PacketSwap {
 public:
  HOCKET_DEVICE PacketSwap(Thread& thread, const Domain& domain, const world::Action& action)
      : thread_(thread),
        domain_(domain),
        swap_(action.swap),
        element_(domain.capacity.world),
        share_(thread),
        signature_(action.signature),
        size_(Element::size(action.swap.type)) {}

  HOCKET_DEVICE void run() {
    for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) send(hop(domain_, k));
    lap_ = next_lap();
    if constexpr (std::same_as<Element, Verbatim>) {
      store_own();
      for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) {
        if (!store_from(source(domain_, swap_.combine, k))) break;
      }
    } else {
      fold();
    }
    end_lap(thread_, domain_, lap_);
  }

 private:
  using Source = Part<const std::byte, 8>;
  using Target = Part<std::byte, 8>;
  template <class Tile>
  struct Words {
    std::uint64_t word[Tile::kCount];
  };

  HOCKET_DEVICE std::uint32_t next_lap() const {
    return kernels::next_lap(thread_.load_lap(domain_.laps + thread_.block()));
  }

  /// A part is a packet at least: its signal.
  template <class Part>
  HOCKET_DEVICE static Part signalled(Part part) {
    if (part.units == 0) part.units = 1;
    return part;
  }
  HOCKET_DEVICE Source sent(std::uint32_t rank) const {
    return signalled(sent_part<8>(swap_, rank, size_));
  }
  HOCKET_DEVICE Target received(std::uint32_t rank) const {
    return signalled(received_part<8>(swap_, rank, size_));
  }

  template <class Tile>
  HOCKET_DEVICE Words<Tile> load(const Source& part, const Tile& tile) const {
    Words<Tile> words;
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
      const std::uint32_t i = tile.unit(u);
      words.word[u] = 0;
      if (!tile.has(u)) continue;
      if constexpr (Tile::kIsWhole) {
        words.word[u] = thread_.load_word(part.unit(i));
      } else {
        words.word[u] = thread_.load(part.unit(i), part.size(i));
      }
    }
    HOCKET_UNROLL
    for (std::uint64_t& word : words.word) word = element_.before(word);
    return words;
  }

  template <class Tile>
  HOCKET_DEVICE void store(const Target& part, const Tile& tile, const Words<Tile>& words) const {
    HOCKET_UNROLL
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
      const std::uint32_t i = tile.unit(u);
      if (!tile.has(u)) continue;
      if constexpr (Tile::kIsWhole) {
        thread_.store_word(part.unit(i), words.word[u]);
      } else {
        thread_.store(part.unit(i), words.word[u], part.size(i));
      }
    }
  }

  HOCKET_DEVICE void send(std::uint32_t to) const {
    const Source part = sent(to);
    share_.each(part.whole, part.units, [&](const auto& tile) {
      const auto words = load(part, tile);
      // Only now, so that nobody waits for the lap before the words are on their way.
      const std::uint32_t lap = next_lap();
      Packet* const slot = mailbox(domain_, to).packets(lap, domain_.me);
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < tile.kCount; ++u) {
        if (tile.has(u)) {
          thread_.store_packet(slot + tile.unit(u), {words.word[u], lap, signature_});
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
  HOCKET_DEVICE bool take(std::uint32_t from, const Tile& tile, Words<Tile>& words) const {
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
    for (std::uint32_t u = 0; u < Tile::kCount; ++u) words.word[u] = packets[u].data;
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

  HOCKET_DEVICE void store_own() const {
    const Source mine = sent(domain_.me);
    const Target part = received(domain_.me);
    if (part.begin == mine.begin) return;
    share_.each(common_whole(mine, part), part.units, [&](const auto& tile) {
      store(part, tile, load(mine, tile));
      return true;
    });
  }

  HOCKET_DEVICE bool store_from(std::uint32_t from) const {
    const Target part = received(from);
    return share_.each(part.whole, part.units, [&]<class Tile>(const Tile& tile) {
      Words<Tile> words;
      if (!take(from, tile, words)) return false;
      store(part, tile, words);
      return true;
    });
  }

  HOCKET_DEVICE void fold() const {
    const Source mine = sent(domain_.me);
    const Target part = received(domain_.me);
    share_.each(common_whole(mine, part), part.units, [&]<class Tile>(const Tile& tile) {
      const Words<Tile> own = load(mine, tile);
      Words<Tile> sum = own;
      for (std::uint32_t k = 0; k < domain_.capacity.world; ++k) {
        const std::uint32_t from = source(domain_, swap_.combine, k);
        Words<Tile> words = own;
        if (from != domain_.me && !take(from, tile, words)) return false;
        HOCKET_UNROLL
        for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
          sum.word[u] = k == 0 ? words.word[u] : element_.fold(sum.word[u], words.word[u]);
        }
      }
      HOCKET_UNROLL
      for (std::uint64_t& word : sum.word) word = element_.after(word);
      store(part, tile, sum);
      return true;
    });
  }

  Thread& thread_;
  const Domain& domain_;
  const world::Swap& swap_;
  const Element element_;
  const Share share_;
  std::uint32_t lap_ = 0;
  const std::uint32_t signature_;  ///< with the lap, tells this op's packets from all others
  const std::uint32_t size_;       ///< bytes of an element
};

}  // namespace hocket::kernels
