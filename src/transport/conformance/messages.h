// SPDX-License-Identifier: Apache-2.0
// What scripts send: bytes that follow from a seed, so that both ends know them, and the two halves
// of a message's way as coroutines. Where payloads are elided only sizes are compared.
// Threads: as the script. Cost: a byte costs a nanosecond.
#pragma once
#include <cstdint>
#include <vector>

#include "async/task.h"
#include "base/bytes.h"
#include "base/prng.h"
#include "transport/conformance/player.h"

namespace hocket::transport::conformance {

/// Memory of `size` bytes that starts `shift` bytes behind an aligned address.
class Payload {
 public:
  explicit Payload(std::uint64_t size, std::uint64_t shift = 0)
      : bytes_(size + shift), size_(size), shift_(shift) {}
  std::uint64_t size() const { return size_; }

  void fill(std::uint64_t seed);
  bool holds(std::uint64_t seed) const;

  /// As the fabric wants it: without data where payloads are elided.
  ConstBytes source(const Player& self) const {
    return {self.traits().elides_payload ? nullptr : bytes_.data() + shift_, size_};
  }
  Bytes target(const Player& self) {
    return {self.traits().elides_payload ? nullptr : bytes_.data() + shift_, size_};
  }

 private:
  std::vector<std::byte> bytes_;
  const std::uint64_t size_, shift_;
};

/// Whether these are `size` bytes that Payload::fill(seed) makes.
bool is_filled(const Player& self, ConstBytes bytes, std::uint64_t size, std::uint64_t seed);

/// Waits for the port and writes.
Task<void> send(Player& self, world::Waiter& out, ConstBytes source);
/// The same where it repeats what was written last on the channel.
Task<void> send_again(Player& self, world::Waiter& out, ConstBytes source);
/// Waits for the arrival, looks at it, gives it back; mismatch unless it is filled from `seed`.
Task<void> take(Player& self, world::Waiter& in, std::uint64_t size, std::uint64_t seed);
/// The same by way of land, into `target`.
Task<void> take_into(Player& self, world::Waiter& in, Payload& target, std::uint64_t seed);
/// Until all that was written on the channel has left its source.
Task<void> drain(Player& self, std::uint16_t channel = 0);
/// For `turns` turns of the driver.
Task<void> idle(Player& self, std::uint32_t turns);

}  // namespace hocket::transport::conformance
