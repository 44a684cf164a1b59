// SPDX-License-Identifier: Apache-2.0
// What links and folds cost: the alpha, beta, gamma of every price and of the simulator, in integer
// picoseconds. The link model that both share (DESIGN: one recurrence, one event queue):
//
//   A rank has one outgoing and one incoming port per link class. Handing a message over costs the
//   sender `message` of its CPU. The message then leaves when the outgoing port is free and holds
//   it for time(bytes); its first byte reaches the receiver's port alpha after it left; it holds
//   that port for time(bytes), in order of first bytes; its end there is its arrival. Taking it
//   costs the receiver `message` of its CPU, and a fold gamma per byte of its compute. Credits and
//   board entries travel alpha.
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
  Picoseconds message = 0;    ///< CPU time of handing over, and of taking, a message
  std::uint32_t credits = 8;  ///< messages in flight per (from, to, channel)

  const LinkCost& of(LinkClass c) const { return link[static_cast<std::uint32_t>(c)]; }
  Picoseconds fold(std::uint64_t bytes) const {
    return static_cast<Picoseconds>(fold_ps_per_byte * static_cast<double>(bytes) + 0.5);
  }
  bool operator==(const Costs&) const = default;
};

}  // namespace hocket
