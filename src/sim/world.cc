// SPDX-License-Identifier: Apache-2.0
#include "sim/world.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace hocket::sim {
namespace {

constexpr std::uint64_t kEventsPerNews = 1 << 14;

}  // namespace

SimWorld::SimWorld(std::shared_ptr<const Topology> topology, const Options& options)
    : state_(std::move(topology), options), clock_(state_), random_(options.seed) {}

world::World SimWorld::world(Rank rank) {
  SimRank& self = state_.ranks[rank.value];
  return {self, self, self, clock_, trace_, arena_};
}

Result<void> SimWorld::SeededRandom::fill(Bytes target) {
  for (std::uint64_t at = 0; at < target.size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = prng.next();
    std::memcpy(target.data + at, &word, std::min<std::uint64_t>(sizeof word, target.size - at));
  }
  return kOk;
}

void SimWorld::start_at(Rank rank, Picoseconds time) {
  state_.queue.push(state_.nodes.of[rank.value], turn_event(time, rank, Turn::start));
}

void SimWorld::crash_at(Rank rank, Picoseconds time) {
  const std::uint32_t node = state_.nodes.of[rank.value];
  state_.queue.push(node, turn_event(time, rank, Turn::crash));
  state_.queue.push(node, turn_event(time + state_.detection, rank, Turn::found_dead));
}

void SimWorld::leave(Rank rank) {
  state_.queue.push(state_.nodes.of[rank.value],
                    turn_event(state_.now + state_.detection, rank, Turn::found_left));
}

// Timers have no node. They are served between windows, which are cut short where one is due, so
// that all that happens before it has happened, and nothing after it.
bool SimWorld::step(Driver& driver) {
  const Instant deadline = loop_.next_deadline();
  const Picoseconds timer =
      deadline == kNever ? Queue::kEnd : static_cast<Picoseconds>(deadline.ns) * 1'000;
  const Picoseconds next = state_.queue.next();
  if (timer == Queue::kEnd && next == Queue::kEnd) return false;
  if (timer <= std::max(next, served_until_)) {
    expire(std::max(timer, served_until_));
    return true;
  }
  state_.window = std::max(next, served_until_);
  served_until_ = std::min(timer, next + state_.queue.window());
  state_.queue.run(
      served_until_, [&](const Event& event) { serve(event, driver); },
      [&](std::uint32_t node, std::uint32_t lead) { approach(node, lead, driver); });
  return true;
}

/// What one rank works with is some 3 KB, which no cache keeps from its turn to the next. Fetching
/// that of a whole node at once would be waited for; so it goes on rank by rank, beside the events
/// of the node whose turn it is.
void SimWorld::approach(std::uint32_t node, std::uint32_t lead, Driver& driver) {
  Approached& ranks = approached_[lead];
  while (ranks.next < ranks.end) approach(Rank{ranks.next++}, lead, driver);
  ranks = {state_.nodes.first[node], state_.nodes.first[node + 1]};
  if (lead == 3) state_.queue.prefetch_node(node);
  if (lead == 1) state_.queue.prefetch_events(node);
}

void SimWorld::approach(Rank rank, std::uint32_t lead, Driver& driver) const {
  if (lead == 3) prefetch(&state_.ranks[rank.value], sizeof(SimRank));
  if (lead == 1) state_.ranks[rank.value].prefetch_lists();
  driver.approach(rank, lead);
}

void SimWorld::approach_one(Driver& driver) {
  lead_ = (lead_ + 1) % kLeads;
  Approached& ranks = approached_[lead_];
  if (ranks.next < ranks.end) approach(Rank{ranks.next++}, lead_, driver);
}

Report SimWorld::run(Driver& driver) {
  while (step(driver)) {
  }
  return {finish_, state_.messages, events_, state_.hash.value()};
}

void SimWorld::serve(const Event& event, Driver& driver) {
  SimRank& rank = state_.ranks[event.rank().value];
  state_.now = event.time();
  if (++events_ % kEventsPerNews == 0) driver.served(state_.now);
  approach_one(driver);
  switch (event.kind()) {
    case Kind::first_byte:
      return rank.first_byte(event.from(), event.channel());
    case Kind::send:
    case Kind::receive:
      rank.wake(event);
      break;
    case Kind::turn:
      turn(event.rank(), static_cast<Turn>(event.from().value), driver);
  }
  if (!loop_.idle()) settle();
  finish_ = std::max(finish_, rank.cpu());
}

void SimWorld::turn(Rank rank, Turn what, Driver& driver) {
  Board& board = state_.board;
  const std::uint32_t world = state_.topology->world();
  switch (what) {
    case Turn::start:
      if (board.crashed(rank)) return;
      driver.start(rank);
      settle();
      if (board.failure()) driver.look(rank);
      return;
    case Turn::look:
      return driver.look(rank);
    case Turn::crash:
      board.crash(rank);
      return driver.look(rank);
    case Turn::found_left:
      if (!board.crashed(rank)) state_.know_gone(rank);
      return;
    case Turn::found_dead:
      state_.know_gone(rank);
      const Rank neighbour{(rank.value + 1) % world};
      if (board.publish({Code::peer_lost, rank, neighbour, board.entered(rank)}, state_.now))
        state_.spread_news();
  }
}

void SimWorld::expire(Picoseconds time) {
  state_.now = time;
  loop_.turn(clock_.now());
  settle();
}

/// Runs what the engine put off, at the present event's time.
void SimWorld::settle() {
  while (!loop_.idle()) loop_.turn(clock_.now());
}

}  // namespace hocket::sim
