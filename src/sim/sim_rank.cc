// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_rank.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace hocket::sim {
namespace {

using world::Port;
using world::Waiter;

constexpr std::uint32_t number_of(LinkClass link) { return static_cast<std::uint32_t>(link); }

constexpr std::size_t kFirstMail = 8;  // messages, and credits, for which there is room at first

/// A waiter is in one list at a time; `link` tells those whose event is in the queue.
bool scheduled(const Waiter& waiter) { return waiter.link != nullptr; }

Event wake_event(Picoseconds time, const Waiter& waiter) {
  const Kind kind = waiter.port == Port::arrival ? Kind::receive : Kind::send;
  return Event(time, kind, {waiter.owner, waiter.channel, Rank{waiter.peer.value & 0xffffff}});
}

void link_to(Waiter*& list, Waiter& waiter) { waiter.next = std::exchange(list, &waiter); }

template <class Wanted>
Waiter* unlink(Waiter** list, Wanted&& wanted) {
  for (Waiter** at = list; *at != nullptr; at = &(*at)->next)
    if (wanted(**at)) return std::exchange(*at, (*at)->next);
  return nullptr;
}

}  // namespace

// ---- Fabric: entering and waiting

Result<void> SimRank::enter(const world::Entry& entry) {
  if (state_.board.crashed(me_)) return lost(me_);
  state_.board.enter(me_, entry.op);
  output_ = entry.output.data;
  entered_at_ = cpu();
  for (Waiter** at = &writers_; *at != nullptr;) {
    Waiter& writer = **at;
    if (writer.port == Port::landing && state_.board.entered(writer.owner) <= entry.op) {
      *at = writer.next;
      SimRank& owner = rank(writer.owner);
      owner.schedule(writer, entered_at_ + cost(writer.owner).alpha);
    } else {
      at = &writer.next;
    }
  }
  return kOk;
}

bool SimRank::ready(Waiter& waiter) {
  if (waiter.port == Port::drained)
    return std::max(egress_[0], egress_[1]) <= state_.now;  // sent in order: all before has left
  if (waiter.port == Port::arrival) {
    if (arrived(waiter) != nullptr) return true;
    return state_.board.gone(waiter.peer) && !expects(waiter);
  }
  if (state_.board.gone(waiter.peer)) return true;
  SimRank& peer = rank(waiter.peer);
  if (waiter.port == Port::landing && !knows_entry(peer)) return false;
  return peer.has_credit(link_of(me_, waiter.channel));
}

void SimRank::park(Waiter& waiter) {
  waiter.parked = true;
  waiter.link = nullptr;
  if (waiter.port == Port::drained)
    return schedule(waiter, std::max({egress_[0], egress_[1], state_.now}));
  if (waiter.port != Port::arrival) return park_writer(waiter);
  const Message* const message = oldest(link_of(waiter.peer, waiter.channel), Stage::arrived);
  if (message != nullptr) return schedule(waiter, message->time);
  link_to(mine_, waiter);
}

void SimRank::park_writer(Waiter& waiter) {
  SimRank& peer = rank(waiter.peer);
  if (waiter.port == Port::landing && !knows_entry(peer)) {
    if (state_.board.entered(peer.me_) < state_.board.entered(me_))
      return link_to(peer.writers_, waiter);
    return schedule(waiter, peer.entered_at_ + cost(peer.me_).alpha);
  }
  const Picoseconds back = peer.credit_back(link_of(me_, waiter.channel));
  back > 0 ? schedule(waiter, back) : link_to(peer.writers_, waiter);
}

void SimRank::unpark(Waiter& waiter) {
  if (!std::exchange(waiter.parked, false)) return;
  const bool receives = waiter.port == Port::arrival;
  const bool mine = scheduled(waiter) || receives;
  const auto is_it = [&](const Waiter& w) { return &w == &waiter; };
  unlink(mine ? &mine_ : &rank(waiter.peer).writers_, is_it);
  if (std::exchange(waiter.link, nullptr) == nullptr) return;
  state_.queue.erase(node_, wake_event(0, waiter));
}

void SimRank::schedule(Waiter& waiter, Picoseconds time) {
  link_to(mine_, waiter);
  mark(waiter, time);
}

void SimRank::mark(Waiter& waiter, Picoseconds time) {
  waiter.link = &state_;
  state_.queue.push(node_, wake_event(time, waiter));
}

void SimRank::wake(const Event& event) {
  Waiter* const waiter =
      unlink(&mine_, [&](const Waiter& w) { return scheduled(w) && wake_event(0, w).same(event); });
  CHECK(waiter != nullptr, "an event without its waiter");
  waiter->link = nullptr;
  const bool writes = waiter->port == Port::staged || waiter->port == Port::landing;
  if (writes && !ready(*waiter)) return park_writer(*waiter);  // had two things to wait for
  waiter->parked = false;
  waiter->handle.resume();
}

// With room for the next one.
void SimRank::prefetch_lists() const {
  prefetch(mail_.data(), (mail_.size() + 1) * sizeof(Message));
  prefetch(credits_.data(), (credits_.size() + 1) * sizeof(Credit));
}

void SimRank::give_up(Rank gone) {
  const Picoseconds time = state_.now + state_.latency();
  for (Waiter* waiter = mine_; waiter != nullptr; waiter = waiter->next)
    if (waiter->peer == gone && !scheduled(*waiter) && !expects(*waiter)) mark(*waiter, time);
  if (me_ != gone) return;
  while (Waiter* const writer = unlink(&writers_, [](const Waiter&) { return true; }))
    rank(writer->owner).schedule(*writer, time);
}

// ---- Fabric: messages

Result<void> SimRank::write(Waiter& waiter, const world::Message& written) {
  if (state_.board.gone(waiter.peer)) return lost(waiter.peer);
  SimRank& peer = rank(waiter.peer);
  const LinkCost& link_cost = cost(waiter.peer);
  const std::uint64_t bytes = written.source.size;
  CHECK(bytes <= UINT32_MAX, "a message of 4 GiB or more");
  if (peer.mail_.capacity() == 0) peer.mail_.reserve(kFirstMail);
  Message& message = peer.mail_.emplace_back();
  message.link = link_of(me_, waiter.channel);
  message.lands = waiter.port == Port::landing;
  message.bytes = static_cast<std::uint32_t>(bytes);
  if (written.source.data != nullptr && bytes > 0) peer.carry(message, written);
  ++state_.messages;

  spend(state_.costs.message);
  Picoseconds& port = egress_[number_of(class_of(waiter.peer))];
  const Picoseconds leaves = std::max(cpu_, port);
  port = leaves + link_cost.time(bytes);
  const Picoseconds late = state_.jitter > 0 ? state_.random.below(state_.jitter + 1) : 0;
  const Picoseconds first_byte = leaves + link_cost.alpha + late;
  state_.queue.push(peer.node_,
                    Event(first_byte, Kind::first_byte, {waiter.peer, waiter.channel, me_}));
  return kOk;
}

/// Bytes are copied when they are written: the source is ready then, and may change once it has
/// left. Every other landing appears in the output at once, the rest when the receiver takes it:
/// both are legal, and the plan's proof says that nobody can tell.
void SimRank::carry(Message& message, const world::Message& written) const {
  message.parcel = state_.parcels.keep(written.source);
  if (message.lands && output_ != nullptr && state_.messages % 2 == 0)
    std::memcpy(output_ + written.lands, written.source.data, message.bytes);
}

void SimRank::first_byte(Rank from, ChannelId channel) {
  Message* const message = oldest(link_of(from, channel), Stage::under_way);
  CHECK(message != nullptr, "a first byte without its message");
  Picoseconds& port = ingress_[number_of(class_of(from))];
  port = std::max(port, state_.now) + cost(from).time(message->bytes);
  message->time = port;
  message->stage = Stage::arrived;
  state_.hash.add(port * 31 + (std::uint64_t{from.value} << 20) + me_.value);
  for (Waiter* waiter = mine_; waiter != nullptr; waiter = waiter->next) {
    if (waiter->port != Port::arrival || waiter->peer != from || waiter->channel != channel)
      continue;
    if (scheduled(*waiter)) return;  // for an earlier one, or a fold
    found_ = static_cast<std::uint32_t>(message - mail_.data());
    return mark(*waiter, port);
  }
}

Result<SimRank::Message*> SimRank::take(const Waiter& waiter, std::uint64_t size) {
  Message* const message = arrived(waiter);
  if (message == nullptr) {
    CHECK(state_.board.gone(waiter.peer), "took a message before it had arrived");
    return lost(waiter.peer);
  }
  if (message->bytes != size)
    return Error(Code::mismatch, "a message of " + std::to_string(message->bytes) +
                                     " bytes arrived where " + std::to_string(size) +
                                     " were expected")
        .about_peer(waiter.peer);
  spend(state_.costs.message);
  return message;
}

Result<ConstBytes> SimRank::front(Waiter& waiter, std::uint64_t size) {
  TRY(const Message* const message, take(waiter, size));
  return ConstBytes{state_.parcels.data(message->parcel), size};
}

Result<void> SimRank::land(Waiter& waiter, Bytes target) {
  TRY(const Message* const message, take(waiter, target.size));
  if (!message->lands) spend(state_.costs.fold(target.size));
  if (message->parcel != Parcels::kNone && target.data != nullptr)
    std::memcpy(target.data, state_.parcels.data(message->parcel), target.size);
  return kOk;
}

void SimRank::pop(Waiter& waiter) {
  Message* const message = arrived(waiter);
  CHECK(message != nullptr, "popped a message that has not arrived");
  const Rank from = waiter.peer;
  const Credit credit{message->link, cpu() + cost(from).alpha};
  state_.parcels.drop(message->parcel);
  mail_.erase(mail_.begin() + (message - mail_.data()));
  found_ = 0;  // surely the oldest of its link; others have moved
  if (credits_.capacity() == 0) credits_.reserve(kFirstMail);
  if (credits_.size() >= kFirstMail / 2) forget_credits();
  credits_.push_back(credit);
  Waiter* const writer = unlink(
      &writers_, [&](const Waiter& w) { return w.owner == from && w.channel == waiter.channel; });
  if (writer != nullptr) rank(from).schedule(*writer, credit.time);
}

// ---- mail

SimRank& SimRank::rank(Rank rank) const { return state_.ranks[rank.value]; }

Error SimRank::lost(Rank peer) const {
  const char* const how = state_.board.crashed(peer) ? " has crashed" : " has left";
  return Error(Code::peer_lost, "rank " + std::to_string(peer.value) + how).about_peer(peer);
}

/// The oldest message of a link, of those in that stage.
SimRank::Message* SimRank::oldest(std::uint64_t link, Stage stage) {
  for (Message& m : mail_)
    if (m.link == link && m.stage <= stage) return m.stage == stage ? &m : nullptr;
  return nullptr;
}

/// The message that the receiver may take now. It is asked for three times: ready, take, pop.
SimRank::Message* SimRank::arrived(const Waiter& waiter) {
  const std::uint64_t link = link_of(waiter.peer, waiter.channel);
  const auto is_it = [&](const Message& m) {
    return m.link == link && m.stage == Stage::arrived && m.time <= state_.now;
  };
  if (found_ < mail_.size() && is_it(mail_[found_])) return &mail_[found_];
  Message* const message = oldest(link, Stage::arrived);
  if (message == nullptr || !is_it(*message)) return nullptr;
  found_ = static_cast<std::uint32_t>(message - mail_.data());
  return message;
}

/// A message of the link is still under way, or has only just reached the port.
bool SimRank::expects(const Waiter& waiter) const {
  const std::uint64_t link = link_of(waiter.peer, waiter.channel);
  return std::any_of(mail_.begin(), mail_.end(), [&](const Message& m) { return m.link == link; });
}

/// This rank, as a writer, knows that the peer has entered the op that this rank is in.
bool SimRank::knows_entry(const SimRank& peer) const {
  const OpSeq mine = state_.board.entered(me_), theirs = state_.board.entered(peer.me_);
  if (theirs != mine) return theirs > mine;
  return peer.entered_at_ + cost(peer.me_).alpha <= state_.now;
}

/// Not all credits of a link are with messages, or on their way back. Nearly always that follows
/// from how many of all links are, and the lists need not come from memory.
bool SimRank::has_credit(std::uint64_t link) const {
  const std::uint32_t credits = state_.costs.credits;
  if (mail_.size() + credits_.size() < credits) return true;
  std::uint32_t count = 0;
  for (const Message& m : mail_) count += m.link == link;
  for (const Credit& c : credits_) count += c.link == link && c.time > state_.now;
  return count < credits;
}

/// Those that are back whoever asks: other nodes may be behind this one, within the window.
void SimRank::forget_credits() {
  std::erase_if(credits_, [this](const Credit& c) { return c.time <= state_.window; });
}

/// When the next credit of a link comes back; 0: not known yet.
Picoseconds SimRank::credit_back(std::uint64_t link) const {
  for (const Credit& c : credits_)
    if (c.link == link && c.time > state_.now) return c.time;
  return 0;
}

// ---- Device

bool SimRank::fold(Waiter& waiter, const world::Fold& fold) {
  if (fold.target.data != nullptr)
    CHECK(state_.bytes->fold(waiter, fold), "the device of a simulated world works at once");
  return compute(waiter, fold.target.size);
}

bool SimRank::copy(Waiter& waiter, Bytes target, ConstBytes source) {
  if (target.data != nullptr) {
    if (target.data == source.data) return true;
    CHECK(state_.bytes->copy(waiter, target, source), "as above");
  }
  return compute(waiter, target.size);
}

bool SimRank::scale(Waiter& waiter, const world::Scale& scale) {
  if (scale.target.data != nullptr) CHECK(state_.bytes->scale(waiter, scale), "as above");
  return compute(waiter, scale.target.size);
}

bool SimRank::compute(Waiter& waiter, std::uint64_t bytes) {
  compute_ = std::max(compute_, cpu()) + state_.costs.fold(bytes);
  if (compute_ == cpu()) return true;
  schedule(waiter, compute_);
  return false;
}

Result<Bytes> SimRank::allocate(std::uint64_t bytes) {
  if (state_.bytes != nullptr) return state_.bytes->allocate(bytes);
  return Bytes{nullptr, bytes};
}

void SimRank::free(Bytes memory) {
  if (state_.bytes != nullptr) state_.bytes->free(memory);
}

// ---- Membership

world::Failure SimRank::fail(const world::Failure& mine) {
  if (state_.board.crashed(me_)) return own_crash();
  if (state_.board.publish(mine, cpu())) state_.spread_news();
  return *state_.board.failure();
}

std::optional<world::Failure> SimRank::failure() {
  if (state_.board.crashed(me_)) return own_crash();
  const std::optional<world::Failure>& first = state_.board.failure();
  if (first && (first->reporter == me_ || state_.news_at() <= state_.now)) return first;
  return std::nullopt;
}

world::Failure SimRank::own_crash() const {
  return {Code::peer_lost, me_, me_, state_.board.entered(me_)};
}

}  // namespace hocket::sim
