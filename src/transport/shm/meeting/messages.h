// SPDX-License-Identifier: Apache-2.0
// What is said in a meeting. Rank 0, the host, greets each guest; the guest says hello; when all
// are there the host welcomes them and passes the segment along; each guest says that it has mapped
// it; when all have, the host writes on the board that all have met, and says go. Instead of an
// answer there may be a refusal. Hello and answers carry a proof over the other side's nonce and
// are not looked at before that was verified. One packet is one message. Threads: values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/bytes.h"
#include "base/ids.h"
#include "transport/shm/meeting/secret.h"

namespace hocket::transport::shm {

inline constexpr std::uint64_t kMagic = 0x010074656b636f68;  // "hocket", version 1

struct Greeting {
  std::uint64_t magic = kMagic;
  Nonce nonce{};
};

/// What all ranks must say alike.
struct Terms {
  std::uint32_t world = 0, ranks_per_node = 0, channels = 0, slice_bytes = 0;
  std::uint64_t agreement = 0;  ///< hash of the options that are none of a transport's business
  bool operator==(const Terms&) const = default;
};

struct Hello {
  std::uint64_t magic = kMagic;
  std::uint32_t rank = 0, reserved = 0;
  Terms terms;
  std::int64_t patience_ns = 0;  ///< until the guest gives up
  Nonce nonce{};
  Proof proof{};  ///< over what is above
};

struct Answer {
  enum class Kind : std::uint32_t { welcome = 1, go, refusal };
  static constexpr std::size_t kText = 400;
  std::uint64_t magic = kMagic;
  Kind kind = Kind::welcome;
  std::uint32_t code = 0;              ///< refusal: Code
  std::uint32_t peer = kNobody.value;  ///< refusal: who is to blame
  std::uint32_t credits = 0;           ///< welcome
  char text[kText] = {};               ///< refusal: why
  Proof proof{};                       ///< over what is above
};

/// From a guest who has mapped the segment; its connection has proved itself before.
struct Mapped {
  std::uint64_t magic = kMagic;
};

/// The part of a message that its proof is over.
template <class Message>
ConstBytes proven_part(const Message& message) {
  static_assert(std::is_trivially_copyable_v<Message>);
  static_assert(offsetof(Message, proof) + sizeof(Proof) == sizeof(Message));
  return {reinterpret_cast<const std::byte*>(&message), offsetof(Message, proof)};
}

}  // namespace hocket::transport::shm
