// SPDX-License-Identifier: Apache-2.0
// The board's part of a communicator: who has entered which op, who is gone, and the failure that
// all agree on. Every rank writes a failure into its own row and then tries to make itself the
// reporter; the first one counts, and a rank that dies on the way leaves nothing half done.
// Threads: whoever holds the baton. Ownership: borrows peers and fabric. Failure: none of its own.
// Cost: failure() loads one word, reads the clock every 20 us or so, and makes a system call or two
// every few milliseconds; so a dead process is found within a quarter of a second in a world of
// 256.
#pragma once
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "transport/shm/fabric.h"
#include "transport/shm/peers.h"
#include "world/clock.h"
#include "world/membership.h"

namespace hocket::transport::shm {

/// Says when a period has passed to somebody who asks all the time, or now and then, without
/// reading the clock each time.
class Cadence {
 public:
  Cadence(world::Clock& clock, Duration period)
      : clock_(clock), period_(period), looked_(clock.now()), due_(looked_ + period) {}
  bool is_due() { return ++asked_ >= stride_ && look(); }

 private:
  bool look();
  // Asked once a millisecond it still is right within a tenth of a second.
  static constexpr std::uint32_t kMostStride = 64;
  world::Clock& clock_;
  const Duration period_;
  Instant looked_, due_;
  std::uint32_t asked_ = 0, stride_ = 1;
};

class Membership final : public world::Membership {
 public:
  Membership(Peers& peers, Fabric& fabric);

  world::Missing missing(OpSeq op) override;
  world::Failure fail(const world::Failure& mine) override;
  std::optional<world::Failure> failure() override;
  std::optional<world::Failure> look() override;

 private:
  std::optional<world::Failure> first_failure(std::optional<Rank> lost);
  world::Failure agreed(std::uint32_t reporter);

  Peers& peers_;
  Fabric& fabric_;
  Cadence cadence_;
};

}  // namespace hocket::transport::shm
