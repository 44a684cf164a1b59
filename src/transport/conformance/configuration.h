// SPDX-License-Identifier: Apache-2.0
// The door through which a transport enters the suite: something that makes a world of n ranks and
// has all of them play a script. perform.h has the three for real time (one thread, threads,
// processes); a simulator writes its own over driver.h.
// Threads: one performance at a time. Ownership: the registering file's.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "transport/conformance/player.h"
#include "transport/conformance/traits.h"

namespace hocket::transport::conformance {

/// By rank.
struct Outcome {
  struct Part {
    std::string failure{};   ///< empty: it ended well
    std::string reported{};  ///< its Player::report
    bool died = false;
  };
  std::vector<Part> parts;
};

class Configuration {
 public:
  virtual ~Configuration() = default;
  virtual const Traits& traits() const = 0;
  /// Joins `ranks` ranks, nodes of `ranks_per_node` (0: one node), and plays the script on each. A
  /// rank's endpoint goes as soon as its own voices have ended.
  virtual Outcome perform(Script& script, std::uint32_t ranks, std::uint32_t ranks_per_node) = 0;
};

}  // namespace hocket::transport::conformance
