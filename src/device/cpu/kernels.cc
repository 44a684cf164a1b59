// SPDX-License-Identifier: Apache-2.0
// Highway compiles this file once per instruction set, each time into a namespace of its own and
// with function attributes instead of compiler flags: nothing shared with the rest of the program
// is ever compiled for a newer processor than the rest of the program.
#include "device/cpu/kernels.h"

#include <concepts>
#include <cstring>

#include "device/cpu/reference.h"

// What is left are NEON, AVX2 and AVX3, Highway's name for AVX-512; has_processor() in fold.cc asks
// for just the extensions that these use.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_DISABLE_PCLMUL_AES
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels.cc"
#include <hwy/foreach_target.h>
// Only now: the order matters.
#include <hwy/highway.h>

// Highway's portable targets emulate vectors; the scalar reference serves such machines as well.
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace hocket::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Buffers have no alignment, so memory is read and written as vectors of bytes, and only those are
// seen as vectors of numbers.
using ByteTag = hn::ScalableTag<std::uint8_t>;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* source) {
  return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(source));
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, std::byte* target) {
  hn::StoreU(value, d, reinterpret_cast<std::uint8_t*>(target));
}

// target = op(sources...), vector by vector, for at least one vector. The last one usually overlaps
// the one before it: it is computed first, from operands that nothing has overwritten yet, and
// stored last. So there is no loop over single elements, and target may be one of the sources.
template <class View, class Op, class... Source>
void for_each_vector(const Op& op, std::uint64_t bytes, std::byte* target,
                     const Source*... sources) {
  const typename View::Memory d;
  const std::uint64_t last = bytes - hn::Lanes(d);
  const auto last_vector = View::apply(op, load(d, sources + last)...);
  for (std::uint64_t i = 0; i < last; i += hn::Lanes(d)) {
    store(d, View::apply(op, load(d, sources + i)...), target + i);
  }
  store(d, last_vector, target + last);
}

// All bits but the sign.
template <class D>
HWY_INLINE hn::Vec<D> canonical_nan(D d) {
  const hn::RebindToSigned<D> bits;
  return hn::BitCast(d, hn::Set(bits, hwy::LimitsMax<hn::TFromD<decltype(bits)>>()));
}

// A view says how the bytes of a vector are numbers. Its apply() maps them by `op`, which sees
// vectors of the type that arithmetic is done in, then rounds once and makes every NaN the
// canonical one.

template <class T>
struct Plain {
  using Memory = ByteTag;
  template <class Op, class... V>
  static HWY_INLINE hn::Vec<Memory> apply(const Op& op, V... operands) {
    const hn::ScalableTag<T> d;
    auto result = op(d, hn::BitCast(d, operands)...);
    if constexpr (std::floating_point<T>) {
      result = hn::IfThenElse(hn::IsNaN(result), canonical_nan(d), result);
    }
    return hn::BitCast(Memory(), result);
  }
};

// Two bfloat16 to a 32-bit lane: the even one is a float after a shift, the odd one after a mask,
// so no shuffle is needed.
struct Bfloat16Pairs {
  using Memory = ByteTag;
  using Pair = hn::ScalableTag<std::uint32_t>;
  using Float = hn::ScalableTag<float>;
  using Bits = hn::ScalableTag<std::uint16_t>;

  template <class Op, class... V>
  static HWY_INLINE hn::Vec<Memory> apply(const Op& op, V... operands) {
    const Pair d;
    const Float df;
    const auto upper = hn::Set(d, 0xFFFF'0000u);
    const auto even = op(df, hn::BitCast(df, hn::ShiftLeft<16>(hn::BitCast(d, operands)))...);
    const auto odd = op(df, hn::BitCast(df, hn::And(hn::BitCast(d, operands), upper))...);
    return hn::BitCast(Memory(), rounded(hn::BitCast(d, even), hn::BitCast(d, odd)));
  }

  // Rounds both at once: the upper 16 bits of a float go up by one if the lower ones are above
  // 0x8000, or equal to it and the upper are odd; that is, if the lower reach 0x8000 after an even
  // upper half took one off. A NaN stays one, as its lower bits are zero.
  static HWY_INLINE hn::Vec<Bits> rounded(hn::Vec<Pair> even, hn::Vec<Pair> odd) {
    const Bits d;
    const auto upper = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<16>(even)));
    const auto lower = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(odd)), hn::BitCast(d, even));
    const auto is_even = hn::AndNot(upper, hn::Set(d, 1));
    const auto up = hn::ShiftRight<15>(hn::SaturatedSub(lower, is_even));
    const auto result = hn::Add(upper, up);
    const hn::RebindToSigned<Bits> di;
    const auto nan = hn::Set(d, 0x7FFF);
    const auto magnitude = hn::BitCast(di, hn::And(result, nan));
    const auto is_nan = hn::RebindMask(d, hn::Gt(magnitude, hn::Set(di, 0x7F80)));
    return hn::IfThenElse(is_nan, nan, result);
  }
};

// Every target has instructions that convert half a vector of binary16 to a whole one of float and
// back.
struct Float16Half {
  using Memory = hn::Half<ByteTag>;
  using Narrow = hn::Repartition<hwy::float16_t, Memory>;
  using Float = hn::ScalableTag<float>;

  template <class Op, class... V>
  static HWY_INLINE hn::Vec<Memory> apply(const Op& op, V... operands) {
    const Float d;
    auto result = op(d, hn::PromoteTo(d, hn::BitCast(Narrow(), operands))...);
    result = hn::IfThenElse(hn::IsNaN(result), canonical_nan(d), result);
    return hn::BitCast(Memory(), hn::DemoteTo(Narrow(), result));
  }
};

struct Sum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct Prod {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    if constexpr (sizeof(hn::TFromD<D>) == 1) {
      const hn::RepartitionToWide<D> pair;
      const auto even = hn::Mul(hn::BitCast(pair, a), hn::BitCast(pair, b));
      const auto odd =
          hn::Mul(hn::ShiftRight<8>(hn::BitCast(pair, a)), hn::ShiftRight<8>(hn::BitCast(pair, b)));
      const auto even_mask = hn::Set(pair, 0x00FF);
      return hn::BitCast(d, hn::Or(hn::And(even, even_mask), hn::ShiftLeft<8>(odd)));
    } else {
      return hn::Mul(a, b);
    }
  }
};

// The processors' own minima differ where neither operand is less. Such operands are equal, apart
// from the sign of zero, or one of them is a NaN: OR is right for both.
template <class V>
HWY_INLINE V float_min(V a, V b) {
  return hn::IfThenElse(hn::Lt(a, b), a, hn::IfThenElse(hn::Lt(b, a), b, hn::Or(a, b)));
}

struct Min {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    if constexpr (std::floating_point<hn::TFromD<D>>) {
      return float_min(a, b);
    } else {
      return hn::Min(a, b);
    }
  }
};

struct Max {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    if constexpr (std::floating_point<hn::TFromD<D>>) {
      return hn::Neg(float_min(hn::Neg(a), hn::Neg(b)));
    } else {
      return hn::Max(a, b);
    }
  }
};

template <class T>
struct Times {
  T factor;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V value) const {
    return hn::Mul(value, hn::Set(d, factor));
  }
};

// Exact in double: a quotient that is not whole is at least 1 / divisor away from one that is,
// which is more than rounding can bridge.
struct DivideInt32 {
  double divisor;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V value) const {
    const hn::Half<D> half;
    return hn::Combine(d, quotient(hn::UpperHalf(half, value)),
                       quotient(hn::LowerHalf(half, value)));
  }
  template <class V>
  HWY_INLINE V quotient(V value) const {
    const hn::ScalableTag<double> d;
    return hn::DemoteTo(hn::Rebind<std::int32_t, decltype(d)>(),
                        hn::Div(hn::PromoteTo(d, value), hn::Set(d, divisor)));
  }
};

// x / n is the upper half of x * ceil(2^16 / n): for x < 2^8 the excess, below x / 2^16, stays
// under 1 / n. n is at least 2.
struct DivideUint8 {
  explicit DivideUint8(std::uint32_t divisor)
      : reciprocal(static_cast<std::uint16_t>(0xFFFFu / divisor + 1)) {}
  std::uint16_t reciprocal;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V value) const {
    const hn::RepartitionToWide<D> pair;
    const auto factor = hn::Set(pair, reciprocal);
    const auto both = hn::BitCast(pair, value);
    const auto even = hn::MulHigh(hn::And(both, hn::Set(pair, 0x00FF)), factor);
    const auto odd = hn::MulHigh(hn::ShiftRight<8>(both), factor);
    return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<8>(odd)));
  }
};

// Less than one vector is left to the reference.
template <class View>
void fold_view(DataType type, ReduceOp op, const FoldOperands& f) {
  const std::uint64_t bytes = f.count * size_of(type);
  if (bytes < hn::Lanes(typename View::Memory())) return reference_fold(type, op, f);
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return for_each_vector<View>(Sum(), bytes, f.target, f.local, f.arrived);
    case ReduceOp::prod:
      return for_each_vector<View>(Prod(), bytes, f.target, f.local, f.arrived);
    case ReduceOp::min:
      return for_each_vector<View>(Min(), bytes, f.target, f.local, f.arrived);
    case ReduceOp::max:
      return for_each_vector<View>(Max(), bytes, f.target, f.local, f.arrived);
  }
}

void fold(DataType type, ReduceOp op, const FoldOperands& f) {
  switch (type) {
    case DataType::float32:
      return fold_view<Plain<float>>(type, op, f);
    case DataType::float64:
      return fold_view<Plain<double>>(type, op, f);
    case DataType::bfloat16:
      return fold_view<Bfloat16Pairs>(type, op, f);
    case DataType::float16:
      return fold_view<Float16Half>(type, op, f);
    case DataType::int32:
      return fold_view<Plain<std::int32_t>>(type, op, f);
    case DataType::int64:
      return fold_view<Plain<std::int64_t>>(type, op, f);
    case DataType::uint8:
      return fold_view<Plain<std::uint8_t>>(type, op, f);
  }
}

template <class View, class Op>
void scale_view(DataType type, const Op& op, const ScaleOperands& s) {
  const std::uint64_t bytes = s.count * size_of(type);
  if (bytes < hn::Lanes(typename View::Memory())) return reference_scale(type, s);
  for_each_vector<View>(op, bytes, s.target, s.source);
}

void scale(DataType type, const ScaleOperands& s) {
  const Times<float> times{1.0f / static_cast<float>(s.divisor)};
  switch (type) {
    case DataType::float32:
      return scale_view<Plain<float>>(type, times, s);
    case DataType::float64:
      return scale_view<Plain<double>>(type, Times<double>{1.0 / s.divisor}, s);
    case DataType::bfloat16:
      return scale_view<Bfloat16Pairs>(type, times, s);
    case DataType::float16:
      return scale_view<Float16Half>(type, times, s);
    case DataType::int32:
      return scale_view<Plain<std::int32_t>>(type, DivideInt32{double(s.divisor)}, s);
    case DataType::int64:
      return reference_scale(type, s);
    case DataType::uint8:
      if (s.divisor == 1) return reference_scale(type, s);
      return scale_view<Plain<std::uint8_t>>(type, DivideUint8(s.divisor), s);
  }
}

constexpr Kernels kKernels{fold, scale};

}  // namespace
}  // namespace hocket::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace hocket::cpu {

Kernels compiled_kernels(InstructionSet set) {
  switch (set) {
    case InstructionSet::scalar:
      return {reference_fold, reference_scale};
#if HWY_TARGETS & HWY_NEON
    case InstructionSet::neon:
      return N_NEON::kKernels;
#endif
#if HWY_TARGETS & HWY_AVX2
    case InstructionSet::avx2:
      return N_AVX2::kKernels;
#endif
#if HWY_TARGETS & HWY_AVX3
    case InstructionSet::avx512:
      return N_AVX3::kKernels;
#endif
    default:
      return {};
  }
}

}  // namespace hocket::cpu
#endif
