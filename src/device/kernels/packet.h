// SPDX-License-Identifier: Apache-2.0
// A swap by packets: data and flag are one store of 16 bytes, so that a message costs one trip and
// no fence. For small parts: it moves twice the bytes and every thread polls.
//
// Grid: any, the same on all ranks; a thread handles the same words of all parts, in both phases,
// which is why input and output may coincide. It has kTile words in flight, `step` apart. Memory
// order: relaxed, at system scope; the lap in the packet is all the order there is. Roofline: one
// trip over the link, 1.4 us between two H200.
#pragma once
#include <concepts>

#include "device/kernels/domain.h"
#include "device/kernels/element.h"

namespace hocket::kernels {

/// One rank's part as words of 8 bytes, the last one perhaps shorter; at least one, for a signal.
template <class Byte>
struct Part {
  Byte* begin = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t words = 0;
  std::uint32_t whole = 0;  ///< of those, from the first on: whole and aligned

  HOCKET_DEVICE Part(Byte* at, std::uint64_t size) : begin(at), bytes(size) {
    words = bytes > 8 ? static_cast<std::uint32_t>((bytes + 7) / 8) : 1;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(at) % 8 == 0;
    whole = is_aligned ? static_cast<std::uint32_t>(bytes / 8) : 0;
  }
  HOCKET_DEVICE Byte* word(std::uint32_t i) const { return begin + 8 * std::uint64_t{i}; }
  HOCKET_DEVICE std::uint32_t size(std::uint32_t i) const {
    const std::uint64_t left = bytes - 8 * std::uint64_t{i};
    return left < 8 ? static_cast<std::uint32_t>(left) : 8;
  }
};

/// The rank `k` places up the circle.
HOCKET_DEVICE inline std::uint32_t hop(const Domain& domain, std::uint32_t k) {
  const std::uint32_t rank = domain.me + k;
  return rank < domain.capacity.world ? rank : rank - domain.capacity.world;
}

/// The rank whose part is folded as the `k`-th.
HOCKET_DEVICE inline std::uint32_t source(const Domain& domain, world::Combine combine,
                                          std::uint32_t k) {
  if (combine == world::Combine::fold_by_rank) return k;
  return domain.me >= k ? domain.me - k : domain.me + domain.capacity.world - k;
}

template <class Element, class Thread>
class PacketSwap {
 public:
  HOCKET_DEVICE PacketSwap(Thread& thread, const Domain& domain, const world::Action& action)
      : thread_(thread), domain_(domain), swap_(action.swap), element_(domain.capacity.world) {
    if constexpr (!std::same_as<Element, Verbatim>) size_ = Element::kSize;
    lap_ = thread.load_lap(domain.laps + thread.block()) + 1;
    signature_ = action.signature;
    first_ = thread.block() * thread.threads() + thread.thread();
    step_ = thread.blocks() * thread.threads();
  }

  HOCKET_DEVICE void run() {
    for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) send(hop(domain_, k));
    if constexpr (std::same_as<Element, Verbatim>) {
      store_own();
      for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) {
        if (!store_from(source(domain_, swap_.combine, k))) break;
      }
    } else {
      fold();
    }
    end_lap();
  }

 private:
  static constexpr std::uint32_t kTile = 4;
  struct Tile {
    std::uint64_t word[kTile];
  };

  HOCKET_DEVICE Part<const std::byte> sent(std::uint32_t rank) const {
    return {swap_.input + swap_.sent.begin(rank) * size_, swap_.sent.count(rank) * size_};
  }
  HOCKET_DEVICE Part<std::byte> received(std::uint32_t rank) const {
    return {swap_.output + swap_.received.begin(rank) * size_, swap_.received.count(rank) * size_};
  }

  HOCKET_DEVICE std::uint32_t at(std::uint32_t tile, std::uint32_t u) const {
    return tile + u * step_;
  }

  HOCKET_DEVICE Tile load(Part<const std::byte> part, std::uint32_t tile) const {
    Tile words;
    for (std::uint32_t u = 0; u < kTile; ++u) {
      words.word[u] = 0;
      const std::uint32_t i = at(tile, u);
      if (i < part.whole) {
        words.word[u] = thread_.load_word(part.word(i));
      } else if (i < part.words) {
        words.word[u] = thread_.load(part.word(i), part.size(i));
      }
    }
    for (std::uint32_t u = 0; u < kTile; ++u) words.word[u] = element_.before(words.word[u]);
    return words;
  }

  HOCKET_DEVICE void store(Part<std::byte> part, std::uint32_t tile, const Tile& words) const {
    for (std::uint32_t u = 0; u < kTile; ++u) {
      const std::uint32_t i = at(tile, u);
      if (i < part.whole) {
        thread_.store_word(part.word(i), words.word[u]);
      } else if (i < part.words) {
        thread_.store(part.word(i), words.word[u], part.size(i));
      }
    }
  }

  HOCKET_DEVICE void send(std::uint32_t to) {
    const Part<const std::byte> part = sent(to);
    Packet* const slot = mailbox(domain_, to).packets(lap_, domain_.me);
    for (std::uint32_t tile = first_; tile < part.words; tile = at(tile, kTile)) {
      const Tile words = load(part, tile);
      for (std::uint32_t u = 0; u < kTile; ++u) {
        const std::uint32_t i = at(tile, u);
        if (i < part.words) thread_.store_packet(slot + i, {words.word[u], lap_, signature_});
      }
    }
  }

  /// Whether all packets of a tile are here; those beyond `count` always are.
  HOCKET_DEVICE bool look(const Packet* slot, std::uint32_t tile, std::uint32_t count,
                          Packet (&packets)[kTile]) const {
    for (std::uint32_t u = 0; u < kTile; ++u) {
      const std::uint32_t i = at(tile, u);
      packets[u] = i < count ? thread_.load_packet(slot + i) : Packet{0, lap_, signature_};
    }
    bool is_here = true;
    for (const Packet& packet : packets) is_here &= packet.lap == lap_;
    return is_here;
  }

  /// Waits for the words of a tile that are among `count`; false: gave up, and said why.
  HOCKET_DEVICE bool take(std::uint32_t from, std::uint32_t tile, std::uint32_t count,
                          Tile& words) const {
    const Packet* const slot = mailbox(domain_, domain_.me).packets(lap_, from);
    Packet packets[kTile];
    for (std::uint32_t spins = 1; !look(slot, tile, count, packets); ++spins) {
      if (!thread_.patient(spins, domain_, from, lap_)) return false;
    }
    for (std::uint32_t u = 0; u < kTile; ++u) {
      words.word[u] = packets[u].data;
      if (packets[u].signature == signature_) continue;
      thread_.report(domain_, {from, lap_, packets[u].signature, Report::mismatch});
      return false;
    }
    return true;
  }

  HOCKET_DEVICE void store_own() {
    const Part<const std::byte> mine = sent(domain_.me);
    const Part<std::byte> part = received(domain_.me);
    if (part.begin == mine.begin) return;
    for (std::uint32_t tile = first_; tile < part.words; tile = at(tile, kTile)) {
      store(part, tile, load(mine, tile));
    }
  }

  HOCKET_DEVICE bool store_from(std::uint32_t from) {
    const Part<std::byte> part = received(from);
    for (std::uint32_t tile = first_; tile < part.words; tile = at(tile, kTile)) {
      Tile words;
      if (!take(from, tile, part.words, words)) return false;
      store(part, tile, words);
    }
    return true;
  }

  HOCKET_DEVICE void fold() {
    const Part<const std::byte> mine = sent(domain_.me);
    const Part<std::byte> part = received(domain_.me);
    for (std::uint32_t tile = first_; tile < part.words; tile = at(tile, kTile)) {
      const Tile own = load(mine, tile);
      Tile sum;
      for (std::uint32_t k = 0; k < domain_.capacity.world; ++k) {
        const std::uint32_t from = source(domain_, swap_.combine, k);
        Tile words = own;
        if (from != domain_.me && !take(from, tile, part.words, words)) return;
        for (std::uint32_t u = 0; u < kTile; ++u) {
          sum.word[u] = k == 0 ? words.word[u] : element_.fold(sum.word[u], words.word[u]);
        }
      }
      for (std::uint32_t u = 0; u < kTile; ++u) sum.word[u] = element_.after(sum.word[u]);
      store(part, tile, sum);
    }
  }

  /// Every block has its own word, and those of blocks that did not run are shared out: the next
  /// launch may have another grid.
  HOCKET_DEVICE void end_lap() {
    thread_.sync();
    const std::uint32_t k = thread_.block() + thread_.thread() * thread_.blocks();
    for (std::uint32_t i = k; i < kMostBlocks; i += step_) {
      thread_.store_lap(domain_.laps + i, lap_);
    }
  }

  Thread& thread_;
  const Domain& domain_;
  const world::Swap& swap_;
  const Element element_;
  std::uint32_t lap_ = 0, signature_ = 0;  ///< what tells this op's packets from all others
  std::uint32_t first_ = 0, step_ = 0;
  std::uint32_t size_ = size_of(swap_.type);  ///< bytes of an element
};

}  // namespace hocket::kernels
