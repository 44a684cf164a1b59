// SPDX-License-Identifier: Apache-2.0
// What a fold is: one element after another, in plain C++.
//
// This is the definition that every vector kernel is tested against, and what runs where there is
// none. It is written to be read, not to be fast (1 to 10 ns per element). Contracts as in fold.h,
// except that it computes in the caller's floating-point environment.
#pragma once
#include "base/types.h"
#include "device/cpu/fold.h"

namespace hocket::cpu {

void reference_fold(DataType type, ReduceOp op, const FoldOperands& operands);
void reference_scale(DataType type, const ScaleOperands& operands);

}  // namespace hocket::cpu
