// SPDX-License-Identifier: Apache-2.0
// One simulated rank: its fabric, its device and what it knows of the others, under the link model
// of topo/costs.h. Messages stand in the receiver's mail from the moment they are written until
// they are taken, then their credits do until they are back at the sender, in two stretches of
// memory that both ends look through: at 131,072 ranks the limit is cache misses, and a link object
// per pair would be 9 million objects.
//
// Whatever a rank does takes place at its own pace, `cpu`, which runs ahead of the event that it is
// in; what it sees is the world as of that event.
// Threads: one. Ownership: of payloads under way. Failure: a link to a dead rank is ready, and says
// peer_lost. Cost: 192 bytes idle; a message 32 more at its receiver until it is taken, then 16.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/state.h"
#include "world/device.h"
#include "world/fabric.h"
#include "world/membership.h"

namespace hocket::sim {

class alignas(64) SimRank final : public world::Fabric,
                                  public world::Device,
                                  public world::Membership {
 public:
  SimRank(State& state, Rank me) : state_(state), me_(me), node_(state.nodes.of[me.value]) {}

  // Fabric
  Result<void> enter(const world::Entry& entry) override;
  bool ready(world::Waiter& waiter) override;
  void park(world::Waiter& waiter) override;
  void unpark(world::Waiter& waiter) override;
  Result<void> write(world::Waiter& waiter, const world::Message& message) override;
  Result<ConstBytes> front(world::Waiter& waiter, std::uint64_t size) override;
  Result<void> land(world::Waiter& waiter, Bytes target) override;
  void pop(world::Waiter& waiter) override;
  bool poll() override { return false; }

  // Device
  bool fold(world::Waiter& waiter, const world::Fold& fold) override;
  bool copy(world::Waiter& waiter, Bytes target, ConstBytes source) override;
  bool scale(world::Waiter& waiter, const world::Scale& scale) override;
  Result<Bytes> allocate(std::uint64_t bytes) override;
  void free(Bytes memory) override;

  // Membership
  world::Missing missing(OpSeq op) override { return state_.board.missing(op); }
  world::Failure fail(const world::Failure& mine) override;
  std::optional<world::Failure> failure() override;

  // For SimWorld.
  /// The time that this rank has come to.
  Picoseconds cpu() const { return cpu_ > state_.now ? cpu_ : state_.now; }
  /// The oldest message of that link which is still under way takes this rank's incoming port.
  void first_byte(Rank from, ChannelId channel);
  /// What one of this rank's waiters waited for has come.
  void wake(const Event& event);
  /// Mail and credits.
  void prefetch_lists() const;
  /// `gone` is known to be: what waits for it here is ready, once the news has come.
  void give_up(Rank gone);

 private:
  enum class Stage : std::uint8_t { under_way, arrived };
  struct Message {           // in the receiver's mail until it is taken
    std::uint64_t link = 0;  // as made by link_of
    Picoseconds time = 0;    // of arrival, once it has reached the port
    std::uint32_t bytes = 0;
    Parcels::Number parcel = Parcels::kNone;  // none: elided or empty
    Stage stage = Stage::under_way;
    bool lands = false;
  };
  struct Credit {  // on its way back
    std::uint64_t link;
    Picoseconds time;  // of its arrival at the sender
  };
  static std::uint64_t link_of(Rank from, ChannelId channel) {
    return std::uint64_t{from.value} << 16 | channel.value;
  }

  SimRank& rank(Rank rank) const;
  LinkClass class_of(Rank peer) const {
    return state_.nodes.of[peer.value] == node_ ? LinkClass::node : LinkClass::rail;
  }
  const LinkCost& cost(Rank peer) const { return state_.costs.of(class_of(peer)); }
  Message* oldest(std::uint64_t link, Stage stage);
  Message* arrived(const world::Waiter& waiter);
  bool expects(const world::Waiter& waiter) const;
  bool knows_entry(const SimRank& peer) const;
  bool has_credit(std::uint64_t link) const;
  void forget_credits();
  Picoseconds credit_back(std::uint64_t link) const;
  void park_writer(world::Waiter& waiter);
  void carry(Message& message, const world::Message& written) const;
  Result<Message*> take(const world::Waiter& waiter, std::uint64_t size);
  Error lost(Rank peer) const;
  bool compute(world::Waiter& waiter, std::uint64_t bytes);
  void spend(Picoseconds time) { cpu_ = cpu() + time; }
  void schedule(world::Waiter& waiter, Picoseconds time);
  void mark(world::Waiter& waiter, Picoseconds time);
  world::Failure own_crash() const;

  State& state_;
  const Rank me_;
  const std::uint32_t node_;
  std::uint32_t found_ = 0;        // in mail_: the arrival last looked for, a hint
  world::Waiter* mine_ = nullptr;  // of this rank: for an arrival, or scheduled
  Picoseconds cpu_ = 0;
  // What others look at: one line of cache, since they have to wait for it.
  std::vector<Message> mail_;
  std::vector<Credit> credits_;
  Picoseconds entered_at_ = 0;
  world::Waiter* writers_ = nullptr;  // of others: for this rank's entry or a credit
  // The rest is this rank's own again.
  std::byte* output_ = nullptr;
  Picoseconds compute_ = 0;
  Picoseconds egress_[kLinkClasses] = {}, ingress_[kLinkClasses] = {};
};

}  // namespace hocket::sim
