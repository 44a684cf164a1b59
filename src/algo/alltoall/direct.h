// SPDX-License-Identifier: Apache-2.0
// Alltoall, every pair by itself: in round k a rank sends to the k-th next and receives from the
// k-th before, so that no rank is sent to by two at once. No send waits for anything. It is its
// pattern, exchange_blocks (plan/patterns.h).
//
// Cost: T = alpha + (n-1)/n m beta for m bytes of input, and n-1 messages to pay for.
// Wins: it is the only one. Not in place: what arrives would overwrite what is still to be sent.
#pragma once
#include "plan/patterns.h"

namespace hocket::algo::alltoall::direct {

using exchange_blocks::round;
using exchange_blocks::shape;

}  // namespace hocket::algo::alltoall::direct
