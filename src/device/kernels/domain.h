// SPDX-License-Identifier: Apache-2.0
// What a kernel knows of its domain, and where peers write in a rank's mailbox.
//
// A mailbox is device memory of one rank that all ranks of its domain have mapped. It has two
// halves: ops of an odd lap use one, those of an even lap the other. A lap is the number of an op
// among those of the communicator on the device, counted there, so that a graph replays without the
// host. Two halves suffice since in every swap each rank hears from each: whoever is at lap e + 2
// has heard from all peers in lap e + 1, so all have ended lap e and read what it had in this half.
// Hence the rule that a swap sends something to every peer, be its part empty.
//
// Threads: none; addresses are computed, nothing is read. Ownership: borrows everything.
#pragma once
#include <cstddef>
#include <cstdint>

#include "device/kernels/kernel.h"
#include "world/swap.h"

namespace hocket::kernels {

inline constexpr std::uint32_t kMostBlocks = 64;    ///< of a launch
inline constexpr std::uint32_t kMostThreads = 512;  ///< of a block
inline constexpr std::uint32_t kMostStripes = 32;   ///< of transfers from one rank to another

/// Of the op after that of `lap`. Never 0, which is what a mailbox holds where nothing was written
/// yet; halves go on alternating.
HOCKET_DEVICE constexpr std::uint32_t next_lap(std::uint32_t lap) {
  return lap == ~std::uint32_t{0} ? 2 : lap + 1;
}

/// 8 bytes that are there when their flag is: written and read as one.
struct alignas(16) Packet {
  std::uint64_t data = 0;
  std::uint32_t lap = 0, signature = 0;
};
static_assert(sizeof(Packet) == 16);

/// What staging is written and read by: two words.
struct alignas(16) Vector {
  std::uint64_t low = 0, high = 0;
};

/// A staged part's flag, alone in its line: the block of threads of that number has sent its share.
struct alignas(128) Flag {
  std::uint32_t lap = 0, signature = 0;
};
static_assert(sizeof(Flag) == 128);

/// How large a mailbox is, equal on all ranks of a domain.
struct Capacity {
  std::uint32_t world = 2;
  std::uint64_t packets = 0;  ///< for each peer and half; a multiple of 8
  std::uint64_t staged = 0;   ///< bytes, for each peer and half; a multiple of 128
  std::uint64_t letters = 0;  ///< packets of transfers, for each peer and half; of a stripe: 8, or
                              ///< more times 8
  std::uint32_t stripes = 1;  ///< of transfers, for each peer and way
};

/// Why a kernel gave up; in host memory that the device has mapped. `code` is written last.
struct Report {
  enum Code : std::uint32_t { none, aborted, late, mismatch };
  std::uint32_t peer = 0;  ///< whom it waited for
  std::uint32_t lap = 0;   ///< in which one; 0: in a transfer
  std::uint32_t seen = 0;  ///< the signature that came instead
  std::uint32_t code = none;
};

struct Domain {
  std::uint32_t me = 0;
  Capacity capacity;
  std::byte* mailboxes[world::kMostInDomain] = {};  ///< by rank, where this rank's device sees them
  std::uint32_t* laps = nullptr;        ///< the last lap, kMostBlocks times: one for each block
  std::uint32_t* chunks = nullptr;      ///< the last chunk of each stripe, by chunk_word()
  std::uint32_t* given_up = nullptr;    ///< not 0: a thread has reported; device memory
  Report* report = nullptr;             ///< mapped host memory
  const std::uint32_t* stop = nullptr;  ///< not 0: give up; mapped host memory
  std::uint64_t patience_ns = 0;        ///< how long a thread waits for a peer; 0: for ever
};

inline constexpr std::uint32_t kChunkWords = 2 * world::kMostInDomain * kMostStripes;
HOCKET_DEVICE constexpr std::uint32_t chunk_word(std::uint32_t peer, bool sends,
                                                 std::uint32_t stripe) {
  return ((sends ? 0 : world::kMostInDomain) + peer) * kMostStripes + stripe;
}

/// A mailbox: packets, flags and staging of swaps; packets and flags of transfers, and what peers
/// have taken of those sent to them. Within each by half, if it has two, then by peer.
struct Mailbox {
  std::byte* base = nullptr;
  Capacity capacity;

  HOCKET_DEVICE std::uint64_t slot(std::uint32_t lap, std::uint32_t from) const {
    return (lap & 1) * capacity.world + from;
  }
  HOCKET_DEVICE Packet* packets(std::uint32_t lap, std::uint32_t from) const {
    return reinterpret_cast<Packet*>(base) + slot(lap, from) * capacity.packets;
  }
  HOCKET_DEVICE Flag* flags(std::uint32_t lap, std::uint32_t from) const {
    return reinterpret_cast<Flag*>(base + packet_bytes(capacity)) + slot(lap, from) * kMostBlocks;
  }
  HOCKET_DEVICE std::byte* staging(std::uint32_t lap, std::uint32_t from) const {
    return base + packet_bytes(capacity) + flag_bytes(capacity) + slot(lap, from) * capacity.staged;
  }
  HOCKET_DEVICE Packet* letters(std::uint32_t chunk, std::uint32_t from) const {
    return reinterpret_cast<Packet*>(base + swap_bytes(capacity)) +
           slot(chunk, from) * capacity.letters;
  }
  HOCKET_DEVICE Flag* arrived(std::uint32_t chunk, std::uint32_t from) const {
    return transfer_flags() + slot(chunk, from) * capacity.stripes;
  }
  /// Alone in its line.
  HOCKET_DEVICE Packet* taken(std::uint32_t by, std::uint32_t stripe) const {
    return reinterpret_cast<Packet*>(transfer_flags() +
                                     (2 * capacity.world + by) * capacity.stripes + stripe);
  }

  HOCKET_DEVICE static constexpr std::uint64_t packet_bytes(const Capacity& c) {
    const std::uint64_t bytes = 2 * c.world * c.packets * sizeof(Packet);
    return (bytes + sizeof(Flag) - 1) / sizeof(Flag) * sizeof(Flag);  // flags begin with a line
  }
  HOCKET_DEVICE static constexpr std::uint64_t flag_bytes(const Capacity& c) {
    return c.staged ? 2 * c.world * kMostBlocks * sizeof(Flag) : 0;
  }
  HOCKET_DEVICE static constexpr std::uint64_t swap_bytes(const Capacity& c) {
    return packet_bytes(c) + flag_bytes(c) + 2 * c.world * c.staged;
  }
  HOCKET_DEVICE static constexpr std::uint64_t letter_bytes(const Capacity& c) {
    return 2 * c.world * c.letters * sizeof(Packet);
  }
  HOCKET_DEVICE static constexpr std::uint64_t bytes(const Capacity& c) {
    const std::uint64_t flags = c.letters ? 3 * c.world * c.stripes * sizeof(Flag) : 0;
    return swap_bytes(c) + letter_bytes(c) + flags;
  }

 private:
  HOCKET_DEVICE Flag* transfer_flags() const {
    return reinterpret_cast<Flag*>(base + swap_bytes(capacity) + letter_bytes(capacity));
  }
};

HOCKET_DEVICE inline Mailbox mailbox(const Domain& domain, std::uint32_t rank) {
  return {domain.mailboxes[rank], domain.capacity};
}

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

/// That of the op that a thread is at.
template <class Thread>
HOCKET_DEVICE std::uint32_t current_lap(Thread& thread, const Domain& domain) {
  return next_lap(thread.load_lap(domain.laps + thread.block()));
}

/// The last thing a kernel does. Every block has its own lap, and those of blocks that did not run
/// are shared out: the next launch may have another grid.
template <class Thread>
HOCKET_DEVICE void end_lap(Thread& thread, const Domain& domain, std::uint32_t lap) {
  thread.sync();
  const std::uint32_t step = thread.blocks() * thread.threads();
  const std::uint32_t first = thread.block() + thread.thread() * thread.blocks();
  for (std::uint32_t i = first; i < kMostBlocks; i += step) thread.store_lap(domain.laps + i, lap);
}

}  // namespace hocket::kernels
