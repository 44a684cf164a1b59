// SPDX-License-Identifier: Apache-2.0
// Barrier in one step: everybody signals everybody. It is its pattern, signal_all
// (plan/patterns.h).
//
// Cost: T = alpha, and n-1 messages to pay for.
// Wins: few ranks.
#pragma once
#include "plan/patterns.h"

namespace hocket::algo::barrier::direct {

using signal_all::round;
using signal_all::shape;

}  // namespace hocket::algo::barrier::direct
