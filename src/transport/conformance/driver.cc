// SPDX-License-Identifier: Apache-2.0
#include "transport/conformance/driver.h"

#include <utility>

namespace hocket::transport::conformance {

Driver::~Driver() {
  for (const std::unique_ptr<Part>& part : parts_) end(*part);
}

void Driver::add(std::unique_ptr<world::Endpoint> endpoint, std::unique_ptr<Player> player,
                 Script& script) {
  parts_.push_back(std::make_unique<Part>());
  Part& part = *parts_.back();
  part.rank = player->rank();
  part.endpoint = std::move(endpoint);
  part.player = std::move(player);
  for (std::uint32_t voice = 0; voice < script.voices(part.rank); ++voice)
    part.voices.push_back(script.play(*part.player, voice));
  for (Task<void>& voice : part.voices) voice.start();
}

bool Driver::drive_until_done(Duration limit) {
  const Instant deadline = clock_.now() + limit;
  while (true) {
    bool is_done = true, has_moved = false;
    for (const std::unique_ptr<Part>& part : parts_) {
      has_moved |= turn(*part);
      is_done &= part->endpoint == nullptr;
    }
    if (is_done) return true;
    if (clock_.now() >= deadline) break;
    if (!has_moved) rest();
  }
  for (const std::unique_ptr<Part>& part : parts_) {
    if (part->endpoint == nullptr) continue;
    for (std::size_t i = 0; i < part->voices.size(); ++i)
      if (part->voices[i].result() == nullptr)
        part->outcome.failure += "voice " + std::to_string(i) + " is not done; ";
    end(*part);
  }
  return false;
}

bool Driver::turn(Part& part) {
  if (part.endpoint == nullptr) return false;
  bool has_moved = false;
  for (const std::coroutine_handle<> handle : part.player->take_paused()) {
    has_moved = true;
    handle.resume();
  }
  has_moved |= part.endpoint->fabric().poll();
  if (!has_moved) static_cast<void>(part.endpoint->membership().failure());
  for (Task<void>& voice : part.voices)
    if (voice.result() == nullptr) return has_moved;
  end(part);
  return true;
}

void Driver::end(Part& part) {
  for (Task<void>& voice : part.voices)
    if (Result<void>* const result = voice.result(); result != nullptr && !*result)
      part.outcome.failure += result->error().text() + "; ";
  if (part.player != nullptr) part.outcome.reported = part.player->reported();
  part.voices.clear();
  part.endpoint.reset();
  part.player.reset();
}

const Outcome::Part& Driver::part(Rank rank) const {
  for (const std::unique_ptr<Part>& part : parts_)
    if (part->rank == rank) return part->outcome;
  CHECK(false, "no such rank is driven here");
}

void Driver::bury(Rank rank) {
  for (const std::unique_ptr<Part>& part : parts_) {
    if (part->rank != rank) continue;
    part->outcome.died = true;
    end(*part);
  }
}

}  // namespace hocket::transport::conformance
