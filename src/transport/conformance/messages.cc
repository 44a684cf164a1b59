// SPDX-License-Identifier: Apache-2.0
#include "transport/conformance/messages.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace hocket::transport::conformance {
namespace {

// Calls `with(part, at, size)` for each part of at most eight bytes.
template <class With>
bool each_word(std::uint64_t size, std::uint64_t seed, With with) {
  Prng prng(seed);
  for (std::uint64_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = prng.next();
    if (!with(&word, at, std::min<std::uint64_t>(sizeof word, size - at))) return false;
  }
  return true;
}

bool holds_pattern(const std::byte* bytes, std::uint64_t size, std::uint64_t seed) {
  return each_word(size, seed, [bytes](const void* word, std::uint64_t at, std::uint64_t part) {
    return std::memcmp(bytes + at, word, part) == 0;
  });
}

Error wrong(std::uint64_t size, std::uint64_t seed) {
  return Error(Code::mismatch, "wrong bytes in a message of " + std::to_string(size) +
                                   ", expected those of seed " + std::to_string(seed));
}

}  // namespace

void Payload::fill(std::uint64_t seed) {
  std::byte* const bytes = bytes_.data() + shift_;
  each_word(size_, seed, [bytes](const void* word, std::uint64_t at, std::uint64_t part) {
    std::memcpy(bytes + at, word, part);
    return true;
  });
}

bool Payload::holds(std::uint64_t seed) const {
  return holds_pattern(bytes_.data() + shift_, size_, seed);
}

bool is_filled(const Player& self, ConstBytes bytes, std::uint64_t size, std::uint64_t seed) {
  if (bytes.size != size) return false;
  if (self.traits().elides_payload) return bytes.data == nullptr || size == 0;
  return holds_pattern(bytes.data, size, seed);
}

Task<void> send(Player& self, world::Waiter& out, ConstBytes source) {
  co_await self.ready(out);
  const world::Message message{source, 0};
  Result<void> written = self.fabric().write(out, message);
  co_return written;
}

Task<void> send_again(Player& self, world::Waiter& out, ConstBytes source) {
  co_await self.ready(out);
  const world::Message message{source, 0, true};
  Result<void> written = self.fabric().write(out, message);
  co_return written;
}

Task<void> take(Player& self, world::Waiter& in, std::uint64_t size, std::uint64_t seed) {
  co_await self.ready(in);
  Result<ConstBytes> bytes = self.fabric().front(in, size);
  if (!bytes) co_return std::move(bytes).error();
  if (!is_filled(self, *bytes, size, seed)) co_return wrong(size, seed);
  self.fabric().pop(in);
  co_return kOk;
}

Task<void> take_into(Player& self, world::Waiter& in, Payload& target, std::uint64_t seed) {
  co_await self.ready(in);
  Result<void> landed = self.fabric().land(in, target.target(self));
  if (!landed) co_return std::move(landed).error();
  if (!self.traits().elides_payload && !target.holds(seed)) co_return wrong(target.size(), seed);
  self.fabric().pop(in);
  co_return kOk;
}

Task<void> drain(Player& self, std::uint16_t channel) {
  world::Waiter drained = self.waiter(world::Port::drained, kNobody.value, channel);
  co_await self.ready(drained);
  co_return kOk;
}

Task<void> idle(Player& self, std::uint32_t turns) {
  for (std::uint32_t i = 0; i < turns; ++i) co_await self.pause();
  co_return kOk;
}

}  // namespace hocket::transport::conformance
