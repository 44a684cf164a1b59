// SPDX-License-Identifier: Apache-2.0
// Shared memory as a world::Network: the ranks of one machine meet through a unix socket named
// after their id (meeting.h), and then share one segment. Same machine means: the same network
// namespace; pid, ipc and user namespaces may differ.
// Threads: join from any thread, several at once; an endpoint's fabric and membership as world/
// says. Ownership: borrows the node, which outlives it and its endpoints. Failure: as
// world/network.h says; none of it harms other communicators or the ranks that joined rightly.
// Cost: a join takes some system calls a rank; an endpoint that is idle costs nothing.
#pragma once
#include <memory>

#include "transport/shm/node.h"
#include "world/network.h"

namespace hocket::transport::shm {

class Network final : public world::Network {
 public:
  explicit Network(Node& node) : node_(node) {}

  Result<std::unique_ptr<world::Endpoint>> join(const world::Join& join) override;

  /// The largest world of one machine.
  static constexpr std::uint32_t kMostRanks = 1024;

 private:
  Node& node_;
};

}  // namespace hocket::transport::shm
