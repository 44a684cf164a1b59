// SPDX-License-Identifier: Apache-2.0
// The twins: kernels as the host's compiler makes them, for all types and ops
// (docs/decisions/0006). Threads: an interpreter's. Ownership: borrows. Failure: as the kernels'.
#pragma once
#include "device/cpu/interpreter.h"

namespace hocket::cpu {

/// What one thread does for an action, whatever its lowering.
void run_twin(Thread& thread, const kernels::Domain& domain, const world::Action& action);
/// And for transfers, of that many stripes each.
void run_twin(Thread& thread, const kernels::Domain& domain, const world::Transfers& transfers,
              std::uint32_t stripes);

}  // namespace hocket::cpu
