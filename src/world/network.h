// SPDX-License-Identifier: Apache-2.0
// How the ranks of a new communicator find one another. A transport implements it; what comes back
// is one rank's endpoint: its fabric, its membership and the topology that all ranks agreed on.
// Threads: join from any thread; it blocks at most until the deadline. Ownership: the caller owns
// the endpoint; it goes before the network.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "topo/topology.h"
#include "world/fabric.h"
#include "world/membership.h"

namespace hocket::world {

/// What the ranks of one communicator share before they meet: 128 bytes made by one of them.
using UniqueId = std::array<std::byte, 128>;

struct Join {
  UniqueId id{};
  Rank rank;
  std::uint32_t world = 1;
  std::uint32_t ranks_per_node = 0;  ///< to pretend that nodes end every so many ranks; 0: do not
  std::uint64_t slice_bytes = 0;     ///< largest message that will be written
  std::uint32_t channels = 1;        ///< most channels of any plan, the send / recv one included
  std::uint64_t agreement = 0;       ///< hash of all else that ranks must agree on
  Instant deadline = kNever;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual Fabric& fabric() = 0;
  virtual Membership& membership() = 0;
  virtual std::shared_ptr<const Topology> topology() = 0;
};

class Network {
 public:
  /// Fails with timeout, naming the ranks that are missing; invalid_argument when the ranks
  /// disagree about the world or two claim one rank; mismatch for a foreign or stale id.
  virtual Result<std::unique_ptr<Endpoint>> join(const Join& join) = 0;

 protected:
  ~Network() = default;
};

}  // namespace hocket::world
