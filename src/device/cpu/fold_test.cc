// SPDX-License-Identifier: Apache-2.0
// Every instruction set of this machine against the reference, bit for bit.
#include "device/cpu/fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cstring>
#include <string>
#include <vector>

#include "base/prng.h"
#include "device/cpu/reference.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace hocket::cpu {
namespace {

using Buffer = std::vector<std::byte>;

constexpr std::uint64_t kMaxCount = 4097;
constexpr std::byte kUntouched{0xA5};

std::vector<DataType> all_types() {
  std::vector<DataType> types;
  for (std::size_t i = 0; i < kDataTypes; ++i) types.push_back(static_cast<DataType>(i));
  return types;
}

// avg is left to a test of its own: it is sum.
constexpr std::array kOps = {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max};

// From slow to fast. The first is scalar, which is the reference.
std::vector<InstructionSet> sets_here() {
  std::vector<InstructionSet> sets;
  for (std::size_t i = 0; i < kInstructionSets; ++i) {
    const auto set = static_cast<InstructionSet>(i);
    if (fold_table(set)) sets.push_back(set);
  }
  return sets;
}

struct Format {
  int mantissa_bits;
  std::uint64_t exponent_max;
};

Format format_of(DataType type) {
  switch (type) {
    case DataType::float32:
      return {23, 0xFF};
    case DataType::float64:
      return {52, 0x7FF};
    case DataType::bfloat16:
      return {7, 0xFF};
    case DataType::float16:
      return {10, 0x1F};
    default:
      return {0, 0};
  }
}

// Half of the floats are any bits at all, NaNs and denormals included; the exponents of the other
// half are close to each other, so that sums round and cancel.
Buffer random_elements(DataType type, std::uint64_t count, std::uint64_t seed) {
  Prng random(seed);
  const std::uint32_t size = size_of(type);
  const auto [mantissa_bits, exponent_max] = format_of(type);
  Buffer buffer(count * size);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t bits = random.next();
    if (is_float(type) && random.below(2) == 0) {
      bits &= ~(exponent_max << mantissa_bits);
      bits |= (exponent_max / 2 + random.below(8)) << mantissa_bits;
    }
    std::memcpy(buffer.data() + i * size, &bits, size);
  }
  return buffer;
}

// Values at every edge of a type: each power of two of its bits and its neighbours, both signs. For
// floats these are zero, the denormals' ends, powers of two, the largest, infinity, quiet and
// signalling NaNs.
Buffer special_elements(DataType type) {
  const std::uint32_t size = size_of(type);
  Buffer buffer;
  const auto append = [&](std::uint64_t bits) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
    buffer.insert(buffer.end(), bytes, bytes + size);
  };
  for (unsigned bit = 0; bit < 8 * size; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t bits : {power - 1, power, power + 1}) {
      append(bits);
      append(~bits);
    }
  }
  if (!is_float(type)) return buffer;
  const auto [mantissa_bits, exponent_max] = format_of(type);
  for (const std::uint64_t exponent :
       {std::uint64_t{1}, exponent_max / 2, exponent_max - 1, exponent_max}) {
    for (const std::uint64_t mantissa : {0u, 1u}) {
      append((exponent << mantissa_bits) + mantissa);
      append((exponent << mantissa_bits) - 1);
      append(((exponent_max + 1 + exponent) << mantissa_bits) + mantissa);
    }
  }
  return buffer;
}

Buffer reference_of(DataType type, ReduceOp op, const Buffer& local, const Buffer& arrived) {
  Buffer target(local.size());
  reference_fold(type, op,
                 {target.data(), local.data(), arrived.data(), local.size() / size_of(type)});
  return target;
}

// A target at any offset between guards that must stay as they were.
class GuardedTarget {
 public:
  explicit GuardedTarget(std::uint64_t bytes) : memory_(bytes + 3 * kGuard, kUntouched) {}

  std::byte* at(std::uint64_t offset) { return memory_.data() + kGuard + offset; }

  /// `bytes` from `offset` on are those of `expected`, those around are untouched; then resets
  /// them.
  bool holds(const Buffer& expected, std::uint64_t offset, std::uint64_t bytes) {
    std::byte* const begin = at(offset);
    const bool equal = std::equal(begin, begin + bytes, expected.data());
    const bool guarded = untouched(begin - kGuard) && untouched(begin + bytes);
    std::fill_n(begin, bytes, kUntouched);
    return equal && guarded;
  }

 private:
  static constexpr std::uint64_t kGuard = 128;

  bool untouched(const std::byte* from) const {
    return std::memcmp(from, guard_.data(), kGuard) == 0;
  }

  const Buffer guard_ = Buffer(kGuard, kUntouched);
  Buffer memory_;
};

// The same bytes at an offset from an aligned address; ends where its allocation ends.
class Misaligned {
 public:
  Misaligned(const std::byte* bytes, std::uint64_t size, std::uint64_t offset)
      : memory_(offset + size), offset_(offset) {
    std::copy_n(bytes, size, memory_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  std::byte* data() { return memory_.data() + offset_; }

 private:
  Buffer memory_;
  std::uint64_t offset_;
};

struct Offsets {
  std::uint64_t target, local, arrived;
};

class FoldTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  const FoldTable table = *fold_table(GetParam());
};

std::string set_name(const ::testing::TestParamInfo<InstructionSet>& info) {
  return name_of(info.param);
}
std::vector<InstructionSet> vector_sets() {
  std::vector<InstructionSet> sets = sets_here();
  sets.erase(sets.begin());
  return sets;
}
INSTANTIATE_TEST_SUITE_P(Sets, FoldTest, ::testing::ValuesIn(vector_sets()), set_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FoldTest);

TEST_P(FoldTest, EveryCount) {
  constexpr std::array<Offsets, 8> kOffsets = {
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 2, 3}, {7, 5, 13}, {31, 8, 2}, {4, 63, 33}}};
  GuardedTarget target(kMaxCount * 8);
  const auto check = [&](DataType type, ReduceOp op) {
    const Buffer local = random_elements(type, kMaxCount, 1);
    const Buffer arrived = random_elements(type, kMaxCount, 2);
    const Buffer expected = reference_of(type, op, local, arrived);
    for (std::size_t i = 0; i < kOffsets.size(); ++i) {
      const Offsets offsets = kOffsets[i];
      Misaligned a(local.data(), local.size(), offsets.local);
      Misaligned b(arrived.data(), arrived.size(), offsets.arrived);
      for (std::uint64_t count = i; count <= kMaxCount; count += kOffsets.size()) {
        table.fold(type, op, {target.at(offsets.target), a.data(), b.data(), count});
        ASSERT_TRUE(target.holds(expected, offsets.target, count * size_of(type)))
            << name_of(type) << ' ' << name_of(op) << " of " << count << ", offsets " << i;
      }
    }
  };
  for (const DataType type : all_types()) {
    for (const ReduceOp op : kOps) ASSERT_NO_FATAL_FAILURE(check(type, op));
  }
}

TEST_P(FoldTest, SmallCountsAtAllOffsets) {
  constexpr std::array<std::uint64_t, 5> kOffsets = {0, 1, 2, 3, 9};
  constexpr std::uint64_t kFew = 70;
  GuardedTarget target(kFew * 8);
  const auto check = [&](DataType type, ReduceOp op, std::uint64_t count) {
    const Buffer local = random_elements(type, count, count);
    const Buffer arrived = random_elements(type, count, ~count);
    const Buffer expected = reference_of(type, op, local, arrived);
    for (const std::uint64_t local_offset : kOffsets) {
      Misaligned a(local.data(), local.size(), local_offset);
      for (const std::uint64_t arrived_offset : kOffsets) {
        Misaligned b(arrived.data(), arrived.size(), arrived_offset);
        for (const std::uint64_t offset : kOffsets) {
          table.fold(type, op, {target.at(offset), a.data(), b.data(), count});
          ASSERT_TRUE(target.holds(expected, offset, local.size()))
              << name_of(type) << ' ' << name_of(op) << " of " << count << ", offsets " << offset
              << ' ' << local_offset << ' ' << arrived_offset;
        }
      }
    }
  };
  for (const DataType type : all_types()) {
    for (const ReduceOp op : kOps) {
      for (std::uint64_t count = 0; count <= kFew; ++count) {
        ASSERT_NO_FATAL_FAILURE(check(type, op, count));
      }
    }
  }
}

TEST_P(FoldTest, TargetMayBeAnOperand) {
  const auto check = [&](DataType type, ReduceOp op, std::uint64_t count) {
    const Buffer local = random_elements(type, count, 3);
    const Buffer arrived = random_elements(type, count, 4);
    const Buffer expected = reference_of(type, op, local, arrived);
    Buffer target = local;
    table.fold(type, op, {target.data(), target.data(), arrived.data(), count});
    ASSERT_EQ(target, expected) << name_of(type) << ' ' << name_of(op) << " into local " << count;
    target = arrived;
    table.fold(type, op, {target.data(), local.data(), target.data(), count});
    ASSERT_EQ(target, expected) << name_of(type) << ' ' << name_of(op) << " into arrived " << count;
    target = local;
    table.fold(type, op, {target.data(), target.data(), target.data(), count});
    ASSERT_EQ(target, reference_of(type, op, local, local)) << name_of(type) << ' ' << count;
  };
  for (const DataType type : all_types()) {
    for (const ReduceOp op : kOps) {
      for (std::uint64_t count = 0; count <= 300; ++count) {
        ASSERT_NO_FATAL_FAILURE(check(type, op, count));
      }
      ASSERT_NO_FATAL_FAILURE(check(type, op, kMaxCount));
    }
  }
}

// Every special value, and for 16-bit types every value there is, with every special value, both
// ways round.
TEST_P(FoldTest, SpecialValues) {
  for (const DataType type : all_types()) {
    const std::uint32_t size = size_of(type);
    const Buffer specials = special_elements(type);
    Buffer local = specials;
    for (std::uint64_t bits = 0; size == 2 && bits < 0x1'0000; ++bits) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
      local.insert(local.end(), bytes, bytes + size);
    }
    const std::uint64_t count = local.size() / size;
    Buffer arrived(local.size());
    Buffer target(local.size());
    for (std::size_t special = 0; special < specials.size(); special += size) {
      for (std::uint64_t i = 0; i < count; ++i) {
        std::copy_n(&specials[special], size, &arrived[i * size]);
      }
      for (const ReduceOp op : kOps) {
        const Buffer expected = reference_of(type, op, local, arrived);
        table.fold(type, op, {target.data(), local.data(), arrived.data(), count});
        ASSERT_EQ(target, expected) << name_of(type) << ' ' << name_of(op) << ' ' << special / size;
        table.fold(type, op, {target.data(), arrived.data(), local.data(), count});
        ASSERT_EQ(target, expected) << name_of(type) << ' ' << name_of(op) << " swapped";
      }
    }
  }
}

TEST_P(FoldTest, AverageFoldsAsSum) {
  for (const DataType type : all_types()) {
    const Buffer local = random_elements(type, 100, 5);
    const Buffer arrived = random_elements(type, 100, 6);
    Buffer target(local.size());
    table.fold(type, ReduceOp::avg, {target.data(), local.data(), arrived.data(), 100});
    EXPECT_EQ(target, reference_of(type, ReduceOp::sum, local, arrived)) << name_of(type);
  }
}

TEST_P(FoldTest, Scale) {
  GuardedTarget target(kMaxCount * 8);
  const auto check = [&](DataType type, std::uint32_t divisor) {
    Buffer source = special_elements(type);
    const Buffer random = random_elements(type, 600, divisor);
    source.insert(source.end(), random.begin(), random.end());
    Buffer expected(source.size());
    const std::uint64_t whole = source.size() / size_of(type);
    reference_scale(type, {expected.data(), source.data(), whole, divisor});
    for (std::uint64_t count = 0; count <= whole; count += count < 140 ? 1 : 37) {
      const std::uint64_t offset = count % 4;
      Misaligned from(source.data(), source.size(), count % 5);
      table.scale(type, {target.at(offset), from.data(), count, divisor});
      ASSERT_TRUE(target.holds(expected, offset, count * size_of(type)))
          << name_of(type) << " / " << divisor << ", " << count;
    }
    table.scale(type, {source.data(), source.data(), whole, divisor});
    ASSERT_EQ(source, expected) << name_of(type) << " / " << divisor << " in place";
  };
  for (const DataType type : all_types()) {
    for (const std::uint32_t divisor : {1u, 2u, 3u, 7u, 8u, 100u, 255u, 256u, 257u, 65'535u,
                                        65'536u, 65'537u, 0x8000'0000u, 0xFFFF'FFFFu}) {
      ASSERT_NO_FATAL_FAILURE(check(type, divisor));
    }
  }
}

TEST_P(FoldTest, DividesEveryByteByEveryDivisor) {
  std::array<std::uint8_t, 256> source;
  std::array<std::uint8_t, 256> target;
  for (unsigned i = 0; i < 256; ++i) source[i] = static_cast<std::uint8_t>(i);
  const auto* from = reinterpret_cast<const std::byte*>(source.data());
  auto* to = reinterpret_cast<std::byte*>(target.data());
  for (std::uint32_t divisor = 1; divisor <= 70'000; divisor += divisor < 300 ? 1 : 97) {
    table.scale(DataType::uint8, {to, from, 256, divisor});
    for (unsigned i = 0; i < 256; ++i) ASSERT_EQ(target[i], i / divisor) << i << " / " << divisor;
  }
}

// Upward rounding and, on x86, denormals taken for zero, until the end of the scope.
class OddEnvironment {
 public:
  OddEnvironment() {
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | kFlushes);
#endif
  }
  ~OddEnvironment() { std::fesetenv(FE_DFL_ENV); }
  OddEnvironment(const OddEnvironment&) = delete;
  OddEnvironment& operator=(const OddEnvironment&) = delete;

  bool is_in_force() const {
#if defined(__x86_64__)
    if ((_mm_getcsr() & kFlushes) != kFlushes) return false;
#endif
    return std::fegetround() == FE_UPWARD;
  }

 private:
  static constexpr unsigned kFlushes = 0x8040;
};

TEST(FoldTable, IgnoresTheCallersFloatEnvironment) {
  constexpr std::uint64_t kCount = 999;
  for (const DataType type : all_types()) {
    const Buffer local = random_elements(type, kCount, 7);
    const Buffer arrived = random_elements(type, kCount, 8);
    const Buffer expected = reference_of(type, ReduceOp::sum, local, arrived);
    Buffer expected_third(local.size());
    reference_scale(type, {expected_third.data(), local.data(), kCount, 3});
    for (const InstructionSet set : sets_here()) {
      const FoldTable table = *fold_table(set);
      Buffer sum(local.size());
      Buffer third(local.size());
      {
        const OddEnvironment environment;
        table.fold(type, ReduceOp::sum, {sum.data(), local.data(), arrived.data(), kCount});
        table.scale(type, {third.data(), local.data(), kCount, 3});
        EXPECT_TRUE(environment.is_in_force());
      }
      EXPECT_EQ(sum, expected) << name_of(set) << ' ' << name_of(type);
      EXPECT_EQ(third, expected_third) << name_of(set) << ' ' << name_of(type);
    }
  }
}

TEST(FoldTable, ChoosesTheLastSetThatIsHere) {
  EXPECT_EQ(choose_fold_table().instruction_set(), sets_here().back());
  EXPECT_EQ(fold_table(InstructionSet::scalar)->instruction_set(), InstructionSet::scalar);
}

TEST(FoldTable, NamesItsInstructionSet) {
  EXPECT_STREQ(name_of(InstructionSet::scalar), "scalar");
  EXPECT_STREQ(name_of(InstructionSet::avx512), "avx512");
}

}  // namespace
}  // namespace hocket::cpu
