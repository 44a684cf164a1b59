// SPDX-License-Identifier: Apache-2.0
// Broadcast in one step: the root sends all to everybody. It is its pattern, push_from_root
// (plan/patterns.h).
//
// Cost: T = alpha + (n-1) m beta, all of it at the root's port.
// Wins: few bytes, or few ranks.
#pragma once
#include "plan/patterns.h"

namespace hocket::algo::broadcast::direct {

using push_from_root::round;
using push_from_root::shape;

}  // namespace hocket::algo::broadcast::direct
