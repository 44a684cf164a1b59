// SPDX-License-Identifier: Apache-2.0
// From a plan to what one rank enqueues for it. The plans of a domain whose rows name a pattern
// (plan/patterns.h) are one swap or two (world/swap.h); their parts are the plan's blocks, so the
// same elements are folded in the same order, and bits are those of the rounds. A plan that is no
// swap is refused as unsupported.
//
// Lowering and grid have to be the same on all ranks: both follow from part_bytes() and the limits,
// which ranks agree on. Threads: pure functions. Ownership: values; actions borrow the user's
// memory. Cost: some 50 ns; no allocation unless refused.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "plan/plan.h"
#include "world/swap.h"

namespace hocket::engine::stream {

struct Memory {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
};

struct Grid {
  std::uint32_t blocks = 1, threads = 256;
  bool operator==(const Grid&) const = default;
};

/// How all ranks do an op.
struct Manner {
  world::Lowering lowering = world::Lowering::packet;
  Grid grid;
  std::uint32_t signature = 0;  ///< of the op; both swaps of an op carry the same
  std::uint32_t windows = 1;
};

/// One after another on the caller's stream.
class Actions {
 public:
  void add(const world::Action& action) { all_[count_++] = action; }
  const world::Action* begin() const { return all_.data(); }
  const world::Action* end() const { return all_.data() + count_; }
  std::size_t size() const { return count_; }

 private:
  std::array<world::Action, 2> all_;
  std::size_t count_ = 0;
};

/// What is said of a plan that cannot be done on a stream.
Error unsupported(const Plan& plan, const std::string& why);
Result<Actions> lower(const Plan& plan, Rank me, const Memory& memory, const Manner& manner);

/// Bytes of the largest part that a rank sends another: what a mailbox has to hold of it.
std::uint64_t part_bytes(const Plan& plan);

/// Bytes of a part that mailboxes hold, by lowering; longer ones may be staged in windows. Blocks
/// of a launch.
struct Limits {
  std::uint64_t packet = 0, staged = 0;
  std::uint32_t blocks = 64;
};
/// Packets are the fastest up to here, as measured between two H200.
inline constexpr std::uint64_t kMostPacketBytes = 512u << 10;

/// How many windows of that much staging a part is.
std::uint32_t windows_of(std::uint64_t bytes, std::uint64_t staged);
/// The fastest that takes `bytes`; unsupported if none does.
Result<world::Lowering> choose_lowering(std::uint64_t bytes, const Limits& limits);
Grid choose_grid(world::Lowering lowering, std::uint64_t bytes, const Limits& limits);
/// All of it; the signature is the caller's.
Result<Manner> choose_manner(std::uint64_t bytes, const Limits& limits);
/// Why that manner, and what it is: "packets take parts up to 524288 bytes, these have 8: 1 block
/// of 256 threads".
std::string explain(const Manner& manner, std::uint64_t bytes, const Limits& limits);

}  // namespace hocket::engine::stream
