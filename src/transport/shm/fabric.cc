// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/fabric.h"

namespace hocket::transport::shm {

Fabric::Fabric(Peers& peers) : peers_(peers), scratch_(peers.segment().shape().slice_bytes) {
  const std::uint32_t channels = peers.segment().shape().channels;
  channels_.reserve(channels);
  while (channels_.size() < channels) channels_.emplace_back(peers.segment());
}

Result<void> Fabric::enter(const world::Entry& entry) {
  std::atomic<std::uint64_t>& entered = peers_.segment().row(peers_.me()).entered;
  CHECK(entry.op.value > entered.load(std::memory_order_relaxed), "ops are entered in order");
  entered.store(entry.op.value, std::memory_order_release);
  return kOk;
}

bool Fabric::ready(world::Waiter& waiter) {
  switch (waiter.port) {
    case world::Port::arrival:
      return incoming(waiter).ready();
    case world::Port::drained:
      return is_drained(channel(waiter));
    case world::Port::staged:
    case world::Port::landing:
      break;
  }
  return outgoing(waiter).ready();
}

Result<void> Fabric::write(world::Waiter& waiter, const world::Message& message) {
  Outgoing& link = outgoing(waiter);
  TRY_VOID(link.write(message));
  if (link.has_sources() && !link.is_listed) {
    link.is_listed = true;
    channel(waiter).with_sources.push_back(&link);
  }
  return kOk;
}

Result<ConstBytes> Fabric::front(world::Waiter& waiter, std::uint64_t size) {
  return incoming(waiter).front(size);
}

Result<void> Fabric::land(world::Waiter& waiter, Bytes target) {
  return incoming(waiter).land(target);
}

void Fabric::pop(world::Waiter& waiter) { incoming(waiter).pop(); }

bool Fabric::poll() {
  return parking_.poll([this](world::Waiter& waiter) { return ready(waiter); });
}

bool Fabric::is_drained(Channel& channel) {
  std::erase_if(channel.with_sources, [](Outgoing* link) {
    link->is_listed = !link->is_drained();
    return !link->is_listed;
  });
  return channel.with_sources.empty();
}

void Fabric::close() {
  if (is_closed_) return;
  is_closed_ = true;
  const auto each = [this](auto action) {
    for (Channel& channel : channels_)
      for (const std::unique_ptr<Outgoing>& link : channel.out)
        if (link != nullptr) action(*link);
  };
  each([](Outgoing& link) { link.close(); });
  const Instant deadline = peers_.clock().now() + seconds(1);
  each([&](Outgoing& link) { link.wait_for_readers(deadline); });
}

Fabric::Channel& Fabric::channel(const world::Waiter& waiter) {
  CHECK(waiter.channel.value < channels_.size(), "a channel beyond Join::channels");
  return channels_[waiter.channel.value];
}

Outgoing& Fabric::make_outgoing(const world::Waiter& waiter) {
  auto& links = channel(waiter).out;
  links.resize(peers_.segment().shape().world);
  channel(waiter).with_sources.reserve(links.size());
  CHECK(waiter.peer.value < links.size(), "a link to a rank outside the world");
  std::unique_ptr<Outgoing>& link = links[waiter.peer.value];
  if (link == nullptr) {
    Result<Box*> box = peers_.segment().box(peers_.me(), waiter.peer, waiter.channel);
    link = std::make_unique<Outgoing>(peers_, channel(waiter).stages, waiter.peer, std::move(box));
    if (is_closed_) link->close();
  }
  return *link;
}

Incoming& Fabric::make_incoming(const world::Waiter& waiter) {
  auto& links = channel(waiter).in;
  links.resize(peers_.segment().shape().world);
  CHECK(waiter.peer.value < links.size(), "a link from a rank outside the world");
  std::unique_ptr<Incoming>& link = links[waiter.peer.value];
  if (link == nullptr) {
    Result<Box*> box = peers_.segment().box(waiter.peer, peers_.me(), waiter.channel);
    link = std::make_unique<Incoming>(peers_, scratch_, waiter.peer, std::move(box));
  }
  return *link;
}

}  // namespace hocket::transport::shm
