// SPDX-License-Identifier: Apache-2.0
// What links and folds cost: the alpha, beta, gamma of every price and of the simulator, in integer
// picoseconds. The link model that both share:
//
//   CPU. A rank's engine runs in bursts, one at a time. An event starts one as soon as the CPU is
//   free: the rank enters, a message has arrived, a credit or an entry has come, a fold is done.
//   Events are served in order of time, at one instant a sender's before a receiver's. A burst sees
//   the world as it was at its event, and goes on until all that event allows is under way; each
//   message it hands over or takes costs `message`, one after another.
//   Ports. A rank has one outgoing and one incoming port per link class. A message leaves when it
//   was handed over and the outgoing port is free, and holds it for time(bytes); its first byte
//   reaches the receiver's port alpha after it left; it holds that port for time(bytes), in order
//   of first bytes (at one instant by sender); its end there is its arrival. Compute. A fold, a
//   local copy or a division costs gamma per byte, in order of request; so does, of the CPU,
//   storing a staged message. Credits and board entries travel alpha.
#pragma once
#include <cstdint>

#include "base/time.h"

namespace hocket {

enum class LinkClass : std::uint8_t { node, rail };  ///< inside a node; between nodes
inline constexpr std::uint32_t kLinkClasses = 2;

struct LinkCost {
  Picoseconds alpha = 0;   ///< latency of a message
  double ps_per_byte = 0;  ///< inverse bandwidth of a port
  Picoseconds time(std::uint64_t bytes) const {
    return static_cast<Picoseconds>(ps_per_byte * static_cast<double>(bytes) + 0.5);
  }
  bool operator==(const LinkCost&) const = default;
};

struct Costs {
  LinkCost link[kLinkClasses] = {{1'500'000, 1000.0 / 450}, {5'000'000, 1000.0 / 25}};
  double fold_ps_per_byte = 1000.0 / 1500;
  Picoseconds message = 0;    ///< CPU time of handing over a message, and of taking one
  std::uint32_t credits = 8;  ///< messages in flight per (from, to, channel)

  const LinkCost& of(LinkClass c) const { return link[static_cast<std::uint32_t>(c)]; }
  Picoseconds fold(std::uint64_t bytes) const {
    return static_cast<Picoseconds>(fold_ps_per_byte * static_cast<double>(bytes) + 0.5);
  }
  bool operator==(const Costs&) const = default;
};

/// Shared memory between the cores of one machine, as measured by bench/compare_cpu: a flag seen
/// after 0.2 us, a receiver that reads 6 GB/s, folds at 8 GB/s, 0.1 us to hand over or take.
inline Costs shared_memory_costs() {
  Costs costs;
  costs.link[0] = costs.link[1] = {200'000, 1000.0 / 6};
  costs.fold_ps_per_byte = 1000.0 / 8;
  costs.message = 100'000;
  return costs;
}

/// Between GPUs of one NVLink domain, for choosing among steps on a stream, as measured between two
/// H200: a step with its launch 1.5 us, 250 GB/s through mailboxes.
inline Costs nvlink_costs() {
  Costs costs;
  costs.link[0] = costs.link[1] = {1'500'000, 1000.0 / 250};
  return costs;
}

}  // namespace hocket
