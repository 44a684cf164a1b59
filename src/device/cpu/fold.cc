// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/fold.h"

#include "base/check.h"
#include "device/cpu/kernels.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace hocket::cpu {
namespace {

bool has_processor(InstructionSet set) {
  switch (set) {
    case InstructionSet::scalar:
      return true;
#if defined(__x86_64__)
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2");
    case InstructionSet::avx512:
      return has_processor(InstructionSet::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw");
#elif defined(__aarch64__)
    case InstructionSet::neon:
      return true;
#endif
    default:
      return false;
  }
}

// The default floating-point environment while it lives: programs that flush denormals to zero or
// trap (or a -ffast-math library that changed the calling thread) must not get other bits than
// their peers.
#if defined(__x86_64__)
class DefaultEnvironment {
 public:
  DefaultEnvironment() : saved_(_mm_getcsr()) {
    if ((saved_ & ~kSticky) != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultEnvironment() {
    if ((saved_ & ~kSticky) != kDefault) _mm_setcsr(saved_);
  }
  DefaultEnvironment(const DefaultEnvironment&) = delete;
  DefaultEnvironment& operator=(const DefaultEnvironment&) = delete;

 private:
  static constexpr unsigned kSticky = 0x3F;     // exceptions that occurred
  static constexpr unsigned kDefault = 0x1F80;  // all masked, to nearest, denormals kept
  unsigned saved_;
};
#else
class DefaultEnvironment {
 public:
  DefaultEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultEnvironment() { std::fesetenv(&saved_); }
  DefaultEnvironment(const DefaultEnvironment&) = delete;
  DefaultEnvironment& operator=(const DefaultEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};
#endif

}  // namespace

const char* name_of(InstructionSet set) {
  constexpr const char* kNames[kInstructionSets] = {"scalar", "neon", "avx2", "avx512"};
  return kNames[static_cast<std::size_t>(set)];
}

void FoldTable::fold(DataType type, ReduceOp op, const FoldOperands& operands) const {
  const DefaultEnvironment environment;
  fold_(type, op, operands);
}

void FoldTable::scale(DataType type, const ScaleOperands& operands) const {
  CHECK(operands.divisor != 0, "an average is over at least one rank");
  const DefaultEnvironment environment;
  scale_(type, operands);
}

std::optional<FoldTable> fold_table(InstructionSet set) {
  const Kernels kernels = compiled_kernels(set);
  if (kernels.fold == nullptr || !has_processor(set)) return std::nullopt;
  return FoldTable(set, *kernels.fold, *kernels.scale);
}

FoldTable choose_fold_table() {
  for (const InstructionSet set :
       {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::neon}) {
    if (const auto table = fold_table(set)) return *table;
  }
  return *fold_table(InstructionSet::scalar);
}

}  // namespace hocket::cpu
