// SPDX-License-Identifier: Apache-2.0
// The host executor: two coroutines a lane. The sender walks the plan's rounds and writes what each
// sends once the rounds below `after` have arrived; the receiver walks the same rounds, makes local
// steps and folds or lands what arrives. They are two because one coroutine for both would make
// freedom from deadlock hang on buffer sizes (docs/decisions). Everything they wait for is a port
// of the fabric, the device, or each other; there is no other state. They cannot tell which world
// they run in. Threads: whoever holds the baton. The sender resumes inside the receiver, never the
// reverse. Failure: a lane ends with its first error and the op cancels the others. Cost: two
// frames of some 500 bytes a lane; no other allocation, none per round.
#pragma once
#include "async/task.h"
#include "engine/op.h"

namespace hocket::engine {

/// Ends when every message of the lane was written and has left its source.
Task<void> run_sender(Op& op, Lane& lane);
/// Ends when every message of the lane has arrived and is folded or stored.
Task<void> run_receiver(Op& op, Lane& lane);
/// The divisions of avg (work.h), on the device: of all inputs, which become those of the rounds,
/// or of all outputs.
Task<void> run_scaling(Op& op, world::Waiter& waiter, bool inputs);

}  // namespace hocket::engine
