// SPDX-License-Identifier: Apache-2.0
// One rank's links over shared memory, made when first used (outgoing.h, incoming.h). The receiver
// pulls, so nothing is written into a peer's output and a landing needs no more than a credit.
// Threads: whoever holds the baton. Ownership: owns the links, borrows peers; waiters belong to the
// callers. Failure: of a link, when next used. Cost: three pointers per (channel used, rank).
#pragma once
#include <memory>
#include <vector>

#include "transport/shm/incoming.h"
#include "transport/shm/outgoing.h"
#include "transport/shm/parking.h"
#include "transport/shm/peers.h"
#include "transport/shm/stages.h"
#include "world/fabric.h"

namespace hocket::transport::shm {

class Fabric final : public world::Fabric {
 public:
  explicit Fabric(Peers& peers);

  Result<void> enter(const world::Entry& entry) override;
  bool ready(world::Waiter& waiter) override;
  void park(world::Waiter& waiter) override { parking_.park(waiter); }
  void unpark(world::Waiter& waiter) override { parking_.unpark(waiter); }
  Result<void> write(world::Waiter& waiter, const world::Message& message) override;
  Result<ConstBytes> front(world::Waiter& waiter, std::uint64_t size) override;
  Result<void> land(world::Waiter& waiter, Bytes target) override;
  void pop(world::Waiter& waiter) override;
  bool poll() override;

  /// The communicator has failed or its owner leaves: takes back what was sent by address. When it
  /// returns nobody reads a source any more, except a thread of this process that has been at it
  /// for a second, and other processes, whom it cannot hurt.
  void close();

 private:
  struct Channel {
    explicit Channel(Segment& segment) : stages(segment) {}
    Stages stages;
    std::vector<std::unique_ptr<Outgoing>> out;  // by peer; null until used
    std::vector<std::unique_ptr<Incoming>> in;
    std::vector<Outgoing*> with_sources;
  };
  Outgoing& outgoing(world::Waiter& waiter) {
    if (waiter.link == nullptr) [[unlikely]]
      waiter.link = &make_outgoing(waiter);
    return *static_cast<Outgoing*>(waiter.link);
  }
  Incoming& incoming(world::Waiter& waiter) {
    if (waiter.link == nullptr) [[unlikely]]
      waiter.link = &make_incoming(waiter);
    return *static_cast<Incoming*>(waiter.link);
  }
  Outgoing& make_outgoing(const world::Waiter& waiter);
  Incoming& make_incoming(const world::Waiter& waiter);
  Channel& channel(const world::Waiter& waiter);
  bool is_drained(Channel& channel);

  Peers& peers_;
  Scratch scratch_;
  std::vector<Channel> channels_;
  Parking parking_;
  bool is_closed_ = false;
};

}  // namespace hocket::transport::shm
