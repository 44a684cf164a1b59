// SPDX-License-Identifier: Apache-2.0
// What only those who have a communicator's id can compute from it: the name under which its ranks
// meet, which gives nothing of the id away, and the proof that goes with every message of the
// meeting (a keyed hash over a nonce of the other side; libsodium's BLAKE2b).
// Threads: a value. Cost: a microsecond.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "world/network.h"

namespace hocket::transport::shm {

using Nonce = std::array<std::byte, 16>;
using Proof = std::array<std::byte, 32>;

class Secret {
 public:
  explicit Secret(const world::UniqueId& id);

  /// An abstract unix socket's name, without the leading zero.
  std::string name() const;
  Proof prove(ConstBytes message, const Nonce& nonce) const;
  /// Takes as long whatever the difference.
  bool verify(const Proof& proof, ConstBytes message, const Nonce& nonce) const;

 private:
  std::array<std::byte, 64> key_;
};

}  // namespace hocket::transport::shm
