// SPDX-License-Identifier: Apache-2.0
#include "transport/conformance/messages.h"

#include <string>

namespace hocket::transport::conformance {
namespace {

// The n-th byte: eight of them from each number of a generator.
class Pattern {
 public:
  explicit Pattern(std::uint64_t seed) : prng_(seed) {}
  std::byte next() {
    if (left_ == 0) {
      word_ = prng_.next();
      left_ = 8;
    }
    const auto byte = static_cast<std::byte>(word_);
    word_ >>= 8;
    --left_;
    return byte;
  }

 private:
  Prng prng_;
  std::uint64_t word_ = 0;
  std::uint32_t left_ = 0;
};

bool holds_pattern(const std::byte* bytes, std::uint64_t size, std::uint64_t seed) {
  Pattern pattern(seed);
  for (std::uint64_t i = 0; i < size; ++i)
    if (bytes[i] != pattern.next()) return false;
  return true;
}

Error wrong(std::uint64_t size, std::uint64_t seed) {
  return Error(Code::mismatch, "wrong bytes in a message of " + std::to_string(size) +
                                   ", expected those of seed " + std::to_string(seed));
}

}  // namespace

void Payload::fill(std::uint64_t seed) {
  Pattern pattern(seed);
  for (std::uint64_t i = 0; i < size_; ++i) bytes_[shift_ + i] = pattern.next();
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
