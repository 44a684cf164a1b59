// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/membership.h"

#include <algorithm>

namespace hocket::transport::shm {
namespace {

constexpr Duration kPeriod = milliseconds(4);

// Further apart than this, looks at the clock cost nothing beside what lies between them.
constexpr Duration kDense = microseconds(20);

}  // namespace

bool Cadence::look() {
  const Instant now = clock_.now();
  stride_ = now - looked_ < kDense ? std::min(stride_ * 2, kMostStride)
                                   : std::max(stride_ / 2, std::uint32_t{1});
  looked_ = now;
  asked_ = 0;
  if (now < due_) return false;
  due_ = now + period_;
  return true;
}

Membership::Membership(Peers& peers, Fabric& fabric)
    : peers_(peers), fabric_(fabric), cadence_(peers.clock(), kPeriod) {}

world::Missing Membership::missing(OpSeq op) {
  world::Missing missing;
  for (std::uint32_t r = 0; r < peers_.segment().shape().world; ++r) {
    const Row& row = peers_.segment().row(Rank{r});
    if (row.entered.load(std::memory_order_acquire) >= op.value) continue;
    if (missing.count < world::Missing::kNamed) missing.ranks[missing.count] = Rank{r};
    ++missing.count;
  }
  return missing;
}

world::Failure Membership::fail(const world::Failure& mine) {
  std::atomic<std::uint32_t>& reporter = peers_.segment().reporter();
  std::uint32_t first = reporter.load(std::memory_order_acquire);
  if (first == 0) {
    Row& row = peers_.segment().row(peers_.me());
    row.failure_code = static_cast<std::uint32_t>(mine.code);
    row.failure_culprit = mine.culprit.value;
    row.failure_op = mine.op.value;
    if (reporter.compare_exchange_strong(first, peers_.me().value + 1, std::memory_order_acq_rel))
      first = peers_.me().value + 1;
  }
  return agreed(first);
}

std::optional<world::Failure> Membership::failure() {
  std::optional<Rank> lost;
  if (cadence_.is_due()) [[unlikely]]
    lost = peers_.look_after_some();
  return first_failure(lost);
}

std::optional<world::Failure> Membership::look() { return first_failure(peers_.look_after_all()); }

/// `lost`: newly found dead.
std::optional<world::Failure> Membership::first_failure(std::optional<Rank> lost) {
  const std::uint32_t reporter = peers_.segment().reporter().load(std::memory_order_acquire);
  if (reporter != 0) [[unlikely]]
    return agreed(reporter);
  if (!lost) [[likely]]
    return std::nullopt;
  const std::uint64_t op =
      peers_.segment().row(peers_.me()).entered.load(std::memory_order_relaxed);
  return fail(
      {.code = Code::peer_lost, .culprit = *lost, .reporter = peers_.me(), .op = OpSeq{op}});
}

world::Failure Membership::agreed(std::uint32_t reporter) {
  fabric_.close();
  const std::uint32_t world = peers_.segment().shape().world;
  if (reporter > world) return {};
  const Row& row = peers_.segment().row(Rank{reporter - 1});
  world::Failure failure{.code = Code::peer_lost,
                         .culprit = Rank{row.failure_culprit},
                         .reporter = Rank{reporter - 1},
                         .op = OpSeq{row.failure_op}};
  if (row.failure_code < kCodes) failure.code = static_cast<Code>(row.failure_code);
  if (failure.culprit.value >= world) failure.culprit = kNobody;
  // Whoever waits for the dead need not wait until we find out ourselves.
  const bool is_lost = failure.code == Code::peer_lost && failure.culprit != kNobody;
  if (is_lost) peers_.refresh(peers_.peer(failure.culprit));
  return failure;
}

}  // namespace hocket::transport::shm
