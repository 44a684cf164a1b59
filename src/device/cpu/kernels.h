// SPDX-License-Identifier: Apache-2.0
// The vector kernels, one pair of functions per instruction set. Private to device/cpu.
//
// They compute in the caller's floating-point environment and must only be called on a processor
// that has the instruction set; FoldTable (fold.h) sees to both.
#pragma once
#include "device/cpu/fold.h"

namespace hocket::cpu {

struct Kernels {
  FoldFunction* fold = nullptr;
  ScaleFunction* scale = nullptr;
};

/// What this build was compiled with for `set`; null functions if nothing.
Kernels compiled_kernels(InstructionSet set);

}  // namespace hocket::cpu
