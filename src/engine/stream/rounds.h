// SPDX-License-Identifier: Apache-2.0
// From a plan's rounds to groups of transfers (world/transfers.h): what one rank enqueues for a
// plan that is no swap. A round is a group: what a rank sends in it, and what it receives, which is
// added where the plan says so; averages are a group before and one after. So a rank ends a round
// before it begins the next one, in step with its peers, which is more than a plan's `after` asks
// for.
//
// Slower than swaps, a launch a round, so only what is named goes this way.
// Threads: pure functions. Ownership: values, which borrow the user's memory and the scratch.
#pragma once
#include <vector>

#include "base/ids.h"
#include "engine/work.h"
#include "world/transfers.h"

namespace hocket::engine::stream {

/// Whether all ranks get to the end in step, with no room for a message that nobody receives yet.
/// Cost: 20 to 40 ns a rank and round; 10 us for a ring of 16.
bool goes_in_step(const Plan& plan);

/// `work` is settled, with one channel and piece, and has its scratch_bytes() of scratch. None are
/// empty.
std::vector<world::Transfers> expand(Work work, Rank me, std::uint32_t signature);

}  // namespace hocket::engine::stream
