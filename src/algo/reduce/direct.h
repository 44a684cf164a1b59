// SPDX-License-Identifier: Apache-2.0
// Reduce in one step: everybody sends all to the root, which adds. It is its pattern,
// push_to_root (plan/patterns.h).
//
// Cost: T = alpha + (n-1) m (beta + gamma), all of it at the root.
// Wins: few bytes, or few ranks.
#pragma once
#include "plan/patterns.h"

namespace hocket::algo::reduce::direct {

using push_to_root::round;
using push_to_root::shape;

}  // namespace hocket::algo::reduce::direct
