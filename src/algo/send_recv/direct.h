// SPDX-License-Identifier: Apache-2.0
// Send and receive: half an exchange at either end, in one round. It is staged, since the sender
// knows nothing of the receiver's buffer. A rank that is its own peer copies its input to its
// output: so a group fuses a send and a receive of the same rank.
//
// Cost: T = alpha + m beta.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::algo::send_recv::direct {

Shape shape(const Topology& topology);
Exchange round(const At& at, std::uint32_t k);

}  // namespace hocket::algo::send_recv::direct
