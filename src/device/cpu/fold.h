// SPDX-License-Identifier: Apache-2.0
// Folds on the CPU, target[i] = local[i] op arrived[i], and the scaling that makes an average of a
// sum. One kernel per element type and reduction, compiled for several instruction sets, of which
// one is chosen at run time. All give the same bits, those of the scalar reference (reference.h):
//
// - Floats round once to their type, to nearest even; 16-bit types compute in float. Neither the
//   order of the two operands nor the caller's rounding mode or flushing of denormals matters.
// - NaN: a NaN operand makes any result NaN, of min and max too (IEEE 754-2019 minimum, maximum),
//   since a fold that drops it hides the rank that diverged. Each NaN written is the one of a clear
//   sign and all other bits set, as NVIDIA GPUs produce it up to 32 bits.
// - Zeros: -0 is less than +0.
// - Integers wrap. avg folds as sum.
//
// Threads: pure functions; a FoldTable is a small immutable value.
// Ownership: operands are borrowed for the call. Target may be exactly local or arrived (or source)
// but not overlap them otherwise. No alignment is required, not even that of the element.
// Failure: none.
// Cost: memory bandwidth (figures in README.md); about 10 ns for 8 bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/types.h"

namespace hocket::cpu {

/// `scalar` is the reference itself and runs everywhere; the others are ordered from slow to fast.
enum class InstructionSet : std::uint8_t { scalar, neon, avx2, avx512 };
inline constexpr std::size_t kInstructionSets = 4;

/// Never null.
const char* name_of(InstructionSet set);

/// `count` elements each.
struct FoldOperands {
  std::byte* target;
  const std::byte* local;
  const std::byte* arrived;
  std::uint64_t count;
};

/// `count` elements each; `divisor` is the number of ranks, at least 1.
struct ScaleOperands {
  std::byte* target;
  const std::byte* source;
  std::uint64_t count;
  std::uint32_t divisor;
};

using FoldFunction = void(DataType, ReduceOp, const FoldOperands&);
using ScaleFunction = void(DataType, const ScaleOperands&);

class FoldTable {
 public:
  FoldTable(InstructionSet set, FoldFunction& fold, ScaleFunction& scale)
      : set_(set), fold_(&fold), scale_(&scale) {}

  InstructionSet instruction_set() const { return set_; }

  /// target[i] = local[i] op arrived[i].
  void fold(DataType type, ReduceOp op, const FoldOperands& operands) const;

  /// The other half of ReduceOp::avg. Floats: each rank scales its operand before the first fold,
  /// by 1/divisor rounded to float (double for float64), so that the sum cannot overflow. Integers:
  /// the wrapped sum is divided after the last fold, toward zero.
  void scale(DataType type, const ScaleOperands& operands) const;

 private:
  InstructionSet set_;
  FoldFunction* fold_;
  ScaleFunction* scale_;
};

/// The kernels for `set`; nothing if this build or this processor has none.
std::optional<FoldTable> fold_table(InstructionSet set);

/// The fastest table this processor has. Asks the processor each time: call it once and keep the
/// value.
FoldTable choose_fold_table();

}  // namespace hocket::cpu
