// SPDX-License-Identifier: Apache-2.0
// The transfers of a group. A direction has stripes, each a block of threads: a transfer is cut
// among as many stripes as its size is worth, and goes through each in chunks. Both ends count a
// stripe's chunks, from op to op, on their devices. There is room for two chunks of a stripe at the
// receiver; it tells the sender which one it has taken, so the next but one may come. Stripes share
// nothing, and all stripes of a launch run at the same time: whatever a peer does first, the others
// go on.
//
// Short transfers are packets (packet.h), in room of their own. Longer ones go through the staging
// of swaps, in the half of the swap to come: all ranks have left it (domain.h), and its sender
// stays until the receiver has taken all. Ends that do not agree which of the two it is look at
// both, now and then, and tell a mismatch.
//
// Grid: `stripes` blocks for each direction, the more the longer the longest transfer. Memory
// order: as for packets and staged parts; that a chunk is taken is told by a packet, after all
// threads of the block have got what they loaded of it. Roofline: one trip over the link for a
// packet; staged, a byte crosses the link once, is written twice and read twice.
#pragma once
#include <concepts>

#include "device/kernels/cut.h"
#include "device/kernels/ends.h"

namespace hocket::kernels {

/// Element: Verbatim if the list folds nothing.
template <class Element, class Thread, class List>
class TransferStripe {
 public:
  HOCKET_DEVICE TransferStripe(Thread& thread, const Domain& domain, const List& transfers,
                               std::uint32_t stripes)
      : thread_(thread),
        domain_(domain),
        transfers_(transfers),
        direction_(transfers.directions[thread.block() / stripes]),
        stripes_(stripes),
        stripe_(thread.block() % stripes),
        share_(thread.thread(), thread.threads()),
        element_(transfers.type, transfers.op, domain.capacity.world),
        peer_(direction_.peer) {}

  HOCKET_DEVICE void run() {
    if (peer_ == domain_.me) return copy();
    std::uint32_t* const chunks = domain_.chunks + chunk_word(peer_, direction_.sends, stripe_);
    chunk_ = thread_.load_lap(chunks);
    taken_ = chunk_ - 2;
    bool is_good = true;
    for (std::uint32_t i = 0; is_good && i < direction_.count; ++i) {
      is_good = pass(transfers_.all[direction_.first + i]);
    }
    if (thread_.thread() == 0) thread_.store_lap(chunks, chunk_);
  }

 private:
  using Source = Part<const std::byte, sizeof(std::uint64_t)>;
  using Target = Part<std::byte, sizeof(std::uint64_t)>;
  using VectorSource = Part<const std::byte, sizeof(Vector)>;
  using VectorTarget = Part<std::byte, sizeof(Vector)>;

  /// This stripe's share, if it has one. All threads of the block agree on what is returned: false,
  /// gave up.
  HOCKET_DEVICE bool pass(const world::Transfer& transfer) {
    const Cut cut(transfer.bytes, domain_.capacity);
    if (stripe_ >= cut.stripes) return true;
    std::uint64_t at = cut.share * stripe_;
    const std::uint64_t end = at + cut.share < transfer.bytes ? at + cut.share : transfer.bytes;
    bool is_good = true;
    do {
      ++chunk_;
      const std::uint64_t size = end - at < cut.chunk ? end - at : cut.chunk;
      std::byte* const memory = transfer.memory + at;
      if (direction_.sends) {
        is_good = cut.is_packed ? send({memory, size}, transfer) : push({memory, size}, transfer);
      } else {
        const std::byte* const operand =
            transfer.operand != nullptr ? transfer.operand + at : memory;
        is_good = cut.is_packed ? take({memory, size}, {operand, size}, transfer)
                                : pull({memory, size}, {operand, size}, transfer);
        is_good = thread_.sync(is_good);
        if (is_good && thread_.thread() == 0) {
          thread_.store_packet(mailbox(domain_, peer_).taken(domain_.me, stripe_), {0, chunk_, 0});
        }
      }
      at += size;
    } while (is_good && at < end);
    if (!direction_.sends) return is_good;
    // Staging is the swaps' again once the last chunk is taken.
    if (is_good && !cut.is_packed && thread_.thread() == 0) is_good = is_taken(chunk_);
    return thread_.sync(is_good);
  }

  // ---- the sender

  HOCKET_DEVICE bool send(Source part, const world::Transfer& transfer) {
    if (part.units == 0) part.units = 1;  // a transfer is a packet at least: its signal
    Packet* const slot = letters(domain_, peer_, domain_.me);
    return share_.each(part.whole, part.units, [&](const auto& tile) {
      const auto words = load_units<WordUnits>(thread_, part, tile);
      if (!is_taken(chunk_ - 2)) return false;  // only now, so that the words are on their way
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < tile.kCount; ++u) {
        if (!tile.has(u)) continue;
        thread_.store_packet(slot + tile.unit(u), {words.unit[u], tag(), transfer.signature});
      }
      return true;
    });
  }

  HOCKET_DEVICE bool push(const VectorSource& part, const world::Transfer& transfer) {
    std::byte* const slot = stage(peer_, domain_.me);
    const bool is_good = share_.each(part.whole, part.units, [&](const auto& tile) {
      const auto vectors = load_units<VectorUnits>(thread_, part, tile);
      if (!is_taken(chunk_ - 2)) return false;
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < tile.kCount; ++u) {
        if (!tile.has(u)) continue;
        thread_.store_vector(slot + sizeof(Vector) * tile.unit(u), vectors.unit[u]);
      }
      return true;
    });
    if (!thread_.sync(is_good)) return false;
    if (thread_.thread() == 0) {
      thread_.store_flag(mailbox(domain_, peer_).arrived(chunk_, domain_.me) + stripe_,
                         {tag(), transfer.signature});
    }
    return true;
  }

  /// Waits until the peer has taken that chunk; false: gave up, and said why.
  HOCKET_DEVICE bool is_taken(std::uint32_t chunk) {
    const Packet* const place = mailbox(domain_, domain_.me).taken(peer_, stripe_);
    for (std::uint32_t spins = 0; static_cast<std::int32_t>(taken_ - chunk) < 0; ++spins) {
      if (spins > 0 && !thread_.patient(spins, domain_, peer_, kNoLap)) return false;
      taken_ = thread_.load_packet(place).lap;
    }
    return true;
  }

  // ---- the receiver

  HOCKET_DEVICE bool take(Target part, const Source& operand, const world::Transfer& transfer) {
    if (part.units == 0) part.units = 1;
    const Packet* const slot = letters(domain_, domain_.me, peer_);
    return share_.each(common_whole(operand, part), part.units, [&]<class Tile>(const Tile& tile) {
      UnitsOf<WordUnits, Tile> words;
      if (!is_here(slot, tile, transfer, words)) return false;
      add<WordUnits>(operand, tile, transfer, words);
      store_units<WordUnits>(thread_, part, tile, words);
      return true;
    });
  }

  template <class Tile>
  HOCKET_DEVICE bool is_here(const Packet* slot, const Tile& tile, const world::Transfer& transfer,
                             UnitsOf<WordUnits, Tile>& words) const {
    for (std::uint32_t spins = 1;; ++spins) {
      bool are_here = true;
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
        Packet packet{0, tag(), transfer.signature};
        if (tile.has(u)) packet = thread_.load_packet(slot + tile.unit(u));
        words.unit[u] = packet.data;
        if (packet.lap != tag()) are_here = false;
        if (packet.lap == tag() && packet.signature != transfer.signature) {
          return refuse(packet.signature);
        }
      }
      if (are_here) return true;
      if (thread_.seldom(spins)) {
        const Flag staged = thread_.load_flag(arrived());
        if (staged.lap == tag()) return refuse(staged.signature);
      }
      if (!thread_.patient(spins, domain_, peer_, kNoLap)) return false;
    }
  }

  HOCKET_DEVICE bool pull(const VectorTarget& part, const VectorSource& operand,
                          const world::Transfer& transfer) {
    if (!thread_.sync(thread_.thread() > 0 || is_pushed(transfer))) return false;
    const std::byte* const slot = stage(domain_.me, peer_);
    return share_.each(common_whole(operand, part), part.units, [&]<class Tile>(const Tile& tile) {
      UnitsOf<VectorUnits, Tile> vectors;
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
        vectors.unit[u] = {};
        if (!tile.has(u)) continue;
        vectors.unit[u] = thread_.load_vector(slot + sizeof(Vector) * tile.unit(u));
      }
      add<VectorUnits>(operand, tile, transfer, vectors);
      store_units<VectorUnits>(thread_, part, tile, vectors);
      return true;
    });
  }

  /// units = the operand's op units, if there is one.
  template <class Access, class Operand, class Tile>
  HOCKET_DEVICE void add(const Operand& operand, const Tile& tile, const world::Transfer& transfer,
                         UnitsOf<Access, Tile>& units) const {
    if constexpr (!std::same_as<Element, Verbatim>) {
      if (transfer.operand == nullptr) return;
      const auto own = load_units<Access>(thread_, operand, tile);
      const auto both = [this](std::uint64_t a, std::uint64_t b) { return element_.fold(a, b); };
      HOCKET_UNROLL
      for (std::uint32_t u = 0; u < Tile::kCount; ++u) {
        units.unit[u] = Access::map(both, own.unit[u], units.unit[u]);
      }
    }
  }

  HOCKET_DEVICE bool is_pushed(const world::Transfer& transfer) const {
    Flag seen = thread_.load_flag(arrived());
    for (std::uint32_t spins = 1; seen.lap != tag(); ++spins) {
      if (thread_.seldom(spins)) {
        const Packet packed = thread_.load_packet(letters(domain_, domain_.me, peer_));
        if (packed.lap == tag()) return refuse(packed.signature);
      }
      if (!thread_.patient(spins, domain_, peer_, kNoLap)) return false;
      seen = thread_.load_flag(arrived());
    }
    return seen.signature == transfer.signature || refuse(seen.signature);
  }

  HOCKET_DEVICE bool refuse(std::uint32_t signature) const {
    thread_.report(domain_, {peer_, kNoLap, signature, Report::mismatch});
    return false;
  }

  /// What this chunk's packets and flag carry: never 0, which is what was never written.
  HOCKET_DEVICE std::uint32_t tag() const { return 2 * chunk_ + 1; }

  // ---- places

  /// This chunk's packets in that rank's mailbox.
  HOCKET_DEVICE Packet* letters(const Domain& domain, std::uint32_t rank,
                                std::uint32_t from) const {
    const Capacity& capacity = domain.capacity;
    return mailbox(domain, rank).letters(chunk_, from) +
           capacity.letters / capacity.stripes * stripe_;
  }
  HOCKET_DEVICE const Flag* arrived() const {
    return mailbox(domain_, domain_.me).arrived(chunk_, peer_) + stripe_;
  }
  /// This chunk's staging there: half of what swaps have in the lap to come is for even chunks.
  HOCKET_DEVICE std::byte* stage(std::uint32_t rank, std::uint32_t from) {
    if (lap_ == 0) lap_ = next_lap(thread_.load_lap(domain_.laps));
    const Capacity& capacity = domain_.capacity;
    const std::uint64_t slot = (chunk_ & 1) * capacity.stripes + stripe_;
    return mailbox(domain_, rank).staging(lap_, from) + Cut::staged_chunk(capacity) * slot;
  }

  /// A rank's transfers to itself.
  HOCKET_DEVICE void copy() const {
    const Share share(stripe_ * thread_.threads() + thread_.thread(), stripes_ * thread_.threads());
    for (std::uint32_t i = 0; i < direction_.count; i += 2) {
      const world::Transfer& from = transfers_.all[direction_.first + i];
      const world::Transfer& to = transfers_.all[direction_.first + i + 1];
      const VectorSource source{from.memory, from.bytes};
      const VectorSource operand{to.operand != nullptr ? to.operand : from.memory, from.bytes};
      const VectorTarget target{to.memory, to.bytes};
      const std::uint32_t whole = common_whole(source, target);
      share.each(operand.whole < whole ? operand.whole : whole, target.units,
                 [&](const auto& tile) {
                   auto vectors = load_units<VectorUnits>(thread_, source, tile);
                   scale(to.scaling, vectors);
                   add<VectorUnits>(operand, tile, to, vectors);
                   store_units<VectorUnits>(thread_, target, tile, vectors);
                   return true;
                 });
    }
  }

  template <class Tile>
  HOCKET_DEVICE void scale(world::Scaling how, UnitsOf<VectorUnits, Tile>& vectors) const {
    if constexpr (!std::same_as<Element, Verbatim>) {
      if (how == world::Scaling::none) return;
      const auto scaled = [this, how](std::uint64_t word) {
        return how == world::Scaling::before ? element_.before(word) : element_.after(word);
      };
      HOCKET_UNROLL
      for (Vector& vector : vectors.unit) vector = VectorUnits::map(scaled, vector);
    }
  }

  static constexpr std::uint32_t kNoLap = 0;

  Thread& thread_;
  const Domain& domain_;
  const List& transfers_;
  const world::Direction& direction_;
  const std::uint32_t stripes_, stripe_;
  const Share share_;
  const Element element_;
  const std::uint32_t peer_;
  std::uint32_t chunk_ = 0;  ///< of this stripe, counted since the communicator began; wraps
  std::uint32_t taken_ = 0;  ///< by the peer, as far as is known here
  std::uint32_t lap_ = 0;    ///< of the swap to come; 0: not known yet
};

}  // namespace hocket::kernels
