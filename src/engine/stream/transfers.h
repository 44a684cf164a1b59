// SPDX-License-Identifier: Apache-2.0
// From the sends and receives of a group to what one rank enqueues for them (world/transfers.h).
// Threads: a pure function. Ownership: values; they borrow the user's memory. Failure:
// invalid_argument, before anything is enqueued: a message to oneself without its other end;
// invalid_usage: more of them than a launch takes.
#pragma once
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "engine/work.h"
#include "world/transfers.h"

namespace hocket::engine::stream {

/// `calls` are one send or receive at least, and nothing else, in the order in which they were
/// made.
Result<world::Transfers> gather(std::span<const Call> calls, Rank me);

}  // namespace hocket::engine::stream
