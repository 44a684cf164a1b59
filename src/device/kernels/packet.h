// SPDX-License-Identifier: Apache-2.0
// A swap by packets: data and flag are one store of 16 bytes, so that a message costs one trip and
// no fence. For small parts: it moves twice the bytes and every thread polls.
//
// Grid: any, the same on all ranks; a thread handles the same words of all parts, in both phases,
// which is why input and output may coincide. Memory order: relaxed, at system scope; the lap in
// the packet is all the order there is. Roofline: one trip over the link, 1.4 us between two H200.
#pragma once
#include "device/kernels/domain.h"

namespace hocket::kernels {

struct Tag {  ///< what tells this op's packets from all others
  std::uint32_t lap = 0, signature = 0;
};

/// The words of one part: 8 bytes each, the last one perhaps shorter; at least one, for a signal.
struct Words {
  std::uint64_t bytes = 0;
  HOCKET_DEVICE std::uint64_t count() const { return bytes > 8 ? (bytes + 7) / 8 : 1; }
  HOCKET_DEVICE std::uint32_t size(std::uint64_t word) const {
    const std::uint64_t left = bytes - 8 * word;
    return left < 8 ? static_cast<std::uint32_t>(left) : 8;
  }
};

HOCKET_DEVICE inline Words sent_words(const world::Swap& swap, std::uint32_t rank) {
  return {swap.sent.count(rank) * size_of(swap.type)};
}
HOCKET_DEVICE inline Words received_words(const world::Swap& swap, std::uint32_t rank) {
  return {swap.received.count(rank) * size_of(swap.type)};
}
HOCKET_DEVICE inline const std::byte* sent_part(const world::Swap& swap, std::uint32_t rank) {
  return swap.input + swap.sent.begin(rank) * size_of(swap.type);
}
HOCKET_DEVICE inline std::byte* received_part(const world::Swap& swap, std::uint32_t rank) {
  return swap.output + swap.received.begin(rank) * size_of(swap.type);
}

/// The rank whose part is combined as the `k`-th.
HOCKET_DEVICE inline std::uint32_t source(const Domain& domain, world::Combine combine,
                                          std::uint32_t k) {
  if (combine == world::Combine::fold_by_rank) return k;
  return domain.me >= k ? domain.me - k : domain.me + domain.capacity.world - k;
}

/// `Element` says how words are numbers (element.h): before(word) scales an operand, fold(a, b)
/// combines two, after(word) scales the result.
template <class Element, class Thread>
class PacketSwap {
 public:
  HOCKET_DEVICE PacketSwap(Thread& thread, const Domain& domain, const world::Action& action)
      : thread_(thread), domain_(domain), swap_(action.swap) {
    tag_ = {thread.load_lap(domain.laps + thread.block()) + 1, action.signature};
    first_ = thread.block() * thread.threads() + thread.thread();
    step_ = thread.blocks() * thread.threads();
  }

  HOCKET_DEVICE void run() {
    for (std::uint32_t k = 1; k < domain_.capacity.world; ++k) send(hop(k));
    if (swap_.combine == world::Combine::store) {
      bool good = true;
      for (std::uint32_t k = 0; good && k < domain_.capacity.world; ++k)
        good = store_from(source(domain_, swap_.combine, k));
    } else {
      fold();
    }
    end_lap();
  }

 private:
  HOCKET_DEVICE std::uint32_t hop(std::uint32_t k) const {
    const std::uint32_t rank = domain_.me + k;
    return rank < domain_.capacity.world ? rank : rank - domain_.capacity.world;
  }

  HOCKET_DEVICE std::uint64_t own(std::uint64_t word, Words words) const {
    const std::byte* const part = sent_part(swap_, domain_.me);
    return Element::before(thread_.load(part + 8 * word, words.size(word)), domain_.capacity.world);
  }

  HOCKET_DEVICE void send(std::uint32_t to) {
    const Words words = sent_words(swap_, to);
    const std::byte* const part = sent_part(swap_, to);
    Packet* const slot = mailbox(domain_, to).packets(tag_.lap, domain_.me);
    for (std::uint64_t i = first_; i < words.count(); i += step_) {
      const std::uint64_t word = thread_.load(part + 8 * i, words.size(i));
      thread_.store_packet(
          slot + i, {Element::before(word, domain_.capacity.world), tag_.lap, tag_.signature});
    }
  }

  /// Waits for word `i` from that rank; false: gave up, and said why.
  HOCKET_DEVICE bool take(std::uint32_t from, std::uint64_t i, std::uint64_t& word) {
    const Packet* const slot = mailbox(domain_, domain_.me).packets(tag_.lap, from) + i;
    Packet packet = thread_.load_packet(slot);
    for (std::uint32_t spins = 1; packet.lap != tag_.lap; ++spins) {
      if (!thread_.patient(spins, domain_, from, tag_.lap)) return false;
      packet = thread_.load_packet(slot);
    }
    word = packet.data;
    if (packet.signature == tag_.signature) return true;
    thread_.report(domain_, {from, tag_.lap, packet.signature, Report::mismatch});
    return false;
  }

  HOCKET_DEVICE bool store_from(std::uint32_t from) {
    const Words words = received_words(swap_, from);
    std::byte* const part = received_part(swap_, from);
    if (from == domain_.me && part == sent_part(swap_, from)) return true;
    for (std::uint64_t i = first_; i < words.count(); i += step_) {
      std::uint64_t word = 0;
      if (from == domain_.me)
        word = own(i, words);
      else if (!take(from, i, word))
        return false;
      thread_.store(part + 8 * i, word, words.size(i));
    }
    return true;
  }

  HOCKET_DEVICE void fold() {
    const Words words = received_words(swap_, domain_.me);
    std::byte* const part = received_part(swap_, domain_.me);
    for (std::uint64_t i = first_; i < words.count(); i += step_) {
      std::uint64_t sum = 0;
      for (std::uint32_t k = 0; k < domain_.capacity.world; ++k) {
        const std::uint32_t from = source(domain_, swap_.combine, k);
        std::uint64_t word = 0;
        if (from == domain_.me)
          word = own(i, words);
        else if (!take(from, i, word))
          return;
        sum = k == 0 ? word : Element::fold(sum, word);
      }
      thread_.store(part + 8 * i, Element::after(sum, domain_.capacity.world), words.size(i));
    }
  }

  /// Every block has its own word, and those of blocks that did not run are shared out: the next
  /// launch may have another grid.
  HOCKET_DEVICE void end_lap() {
    thread_.sync();
    const std::uint32_t k = thread_.block() + thread_.thread() * thread_.blocks();
    for (std::uint32_t at = k; at < kMostBlocks; at += step_)
      thread_.store_lap(domain_.laps + at, tag_.lap);
  }

  Thread& thread_;
  const Domain& domain_;
  const world::Swap& swap_;
  Tag tag_;
  std::uint64_t first_ = 0, step_ = 0;
};

}  // namespace hocket::kernels
