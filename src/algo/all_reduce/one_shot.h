// SPDX-License-Identifier: Apache-2.0
// All_reduce in one step: everybody sends all to all, and everybody adds everything, in rank order,
// so that all ranks agree bit for bit. It is its pattern, exchange_and_reduce (plan/patterns.h).
//
// Cost: one step, (n-1) m bytes a rank:
//   T = alpha + (n-1) m (beta + gamma); in place m bytes are copied first.
// Wins: a handful of bytes.
#pragma once
#include "plan/patterns.h"

namespace hocket::algo::all_reduce::one_shot {

using exchange_and_reduce::round;
using exchange_and_reduce::shape;

}  // namespace hocket::algo::all_reduce::one_shot
