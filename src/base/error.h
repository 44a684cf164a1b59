// SPDX-License-Identifier: Apache-2.0
// An operating error: what a user, a peer, a cable or a kernel caused. It says what went wrong, in
// words, and where: rank, peer, op, place in the source; a cause may hang below it. One pointer
// wide, so that a Result<void> costs eight bytes in a coroutine's frame; making one allocates,
// which only failing paths pay. Threads: a value, moved or cloned, never shared.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

#include "base/ids.h"

namespace hocket {

/// A code exists only where some caller reacts differently.
enum class Code : std::uint8_t {
  invalid_argument,  ///< the call can never succeed; nothing was done
  invalid_usage,     ///< legal arguments at the wrong moment (a destroyed communicator, say)
  mismatch,          ///< ranks disagree about an op
  timeout,           ///< a deadline passed
  cancelled,         ///< a sibling failed first; the error that caused it is told elsewhere
  aborted,           ///< somebody called abort
  peer_lost,         ///< a process or a link is gone
  maybe_delivered,   ///< the peer may or may not have received it
  out_of_memory,     ///< memory whose size a user, a peer or the world size decides
  unsupported,       ///< legal, but this build or machine cannot do it
  system,            ///< an operating system call failed
};
inline constexpr std::size_t kCodes = 11;
const char* name_of(Code code);

class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message,
        std::source_location where = std::source_location::current());
  /// That there is no memory, told without taking any; where it was and in which op is lost on it.
  static Error no_memory();
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;

  Error&& at_rank(Rank rank) &&;
  Error&& about_peer(Rank peer) &&;
  Error&& in_op(OpSeq op) &&;
  Error&& because(Error cause) &&;

  Code code() const;
  const std::string& message() const;
  std::optional<Rank> rank() const;  ///< who reports
  std::optional<Rank> peer() const;  ///< whom it blames
  std::optional<OpSeq> op() const;
  const Error* cause() const;
  /// One line: "rank 2: op 7: peer 3: timeout: MESSAGE (caused by ...)".
  std::string text() const;
  Error clone() const;
  /// Its text, if it is no_memory(), else null.
  const char* literal() const;

 private:
  template <class>
  friend class Result;
  struct Detail;
  struct Deleter {
    void operator()(Detail* detail) const;
  };
  union NoMemory;
  static const NoMemory no_memory_;
  Error() = default;  // no error: only inside Result<void>
  std::unique_ptr<Detail, Deleter> detail_;
};

}  // namespace hocket
