// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/peers.h"

#include <string>

#include "transport/shm/cross_memory.h"
#include "transport/shm/file.h"

namespace hocket::transport::shm {
namespace {

// A dead process's pid comes back only after all others were used, which takes far longer.
constexpr Duration kVerifiedFor = milliseconds(10);

// The part of a world that is looked after at once: a quarter of a second goes round any world.
constexpr std::uint32_t kPart = 64;

std::string name(const Peer& peer) { return "rank " + std::to_string(peer.rank.value); }

}  // namespace

Peers::Peers(Segment& segment, const Self& self, Node& node)
    : segment_(segment), self_(self), clock_(node.clock()), options_(node.options()) {
  const std::uint32_t world = segment.shape().world;
  peers_.resize(world);
  for (std::uint32_t r = 0; r < world; ++r) {
    Peer& peer = peers_[r];
    peer.rank = Rank{r};
    peer.identity = segment.row(Rank{r}).identity;
    peer.same_process = peer.identity == self.identity;
  }
}

bool Peers::can_read(Peer& peer) {
  if (shares_addresses(peer)) return true;
  if (peer.reach == Reach::unknown) {
    const bool can = options_.cross_memory && shm::can_read(self_.identity, peer.identity);
    peer.reach = can ? Reach::direct : Reach::refused;
    peer.verified_at = clock_.now();
  }
  return peer.reach == Reach::direct;
}

Result<void> Peers::read(Peer& peer, std::uint64_t address, Bytes target) {
  const Instant now = clock_.now();
  const bool is_verified = now - peer.verified_at < kVerifiedFor;
  const Attach outcome =
      read_memory(peer.identity, {.address = address, .is_verified = is_verified}, target);
  if (outcome == Attach::done) {
    if (!is_verified) peer.verified_at = now;
    return kOk;
  }
  if (outcome == Attach::gone) {
    if (refresh(peer) == Fate::present) peer.fate = Fate::lost;
    return gone(peer);
  }
  const char* const why = outcome == Attach::refused
                              ? " cannot be read: the kernel no longer allows it"
                              : " cannot be read: there is no such memory";
  return Error(Code::system,
               "the " + std::to_string(target.size) + " bytes that " + name(peer) + " sent" + why)
      .at_rank(me())
      .about_peer(peer.rank);
}

Fate Peers::refresh(Peer& peer) {
  if (peer.is_gone()) return peer.fate;
  const auto has_left = [&] {
    return segment_.row(peer.rank).presence.load(std::memory_order_acquire) == Presence::left;
  };
  if (has_left()) return peer.fate = Fate::left;
  if (peer.same_process || is_byte_locked(self_.descriptor, peer.rank.value)) return peer.fate;
  return peer.fate = has_left() ? Fate::left : Fate::lost;
}

std::optional<Rank> Peers::look_after_some() {
  return look_after(1 + static_cast<std::uint32_t>(peers_.size()) / kPart);
}

std::optional<Rank> Peers::look_after_all() {
  return look_after(static_cast<std::uint32_t>(peers_.size()));
}

std::optional<Rank> Peers::look_after(std::uint32_t count) {
  const auto world = static_cast<std::uint32_t>(peers_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    next_ = next_ + 1 < world ? next_ + 1 : 0;
    Peer& peer = peers_[next_];
    if (peer.is_gone() || peer.rank == me()) continue;
    if (refresh(peer) == Fate::lost) return peer.rank;
  }
  return std::nullopt;
}

Error Peers::gone(const Peer& peer) const {
  std::string what = peer.fate == Fate::left ? name(peer) + " has left the communicator"
                                             : name(peer) + "'s process (pid " +
                                                   std::to_string(peer.identity.pid) + ") is gone";
  return Error(Code::peer_lost, std::move(what)).at_rank(me()).about_peer(peer.rank);
}

}  // namespace hocket::transport::shm
