// SPDX-License-Identifier: Apache-2.0
// What kernels do to words is what folds do to buffers, bit for bit: for every type and reduction,
// by the scalar reference and by the fastest vector kernels of this machine.
#include "device/kernels/element.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/prng.h"
#include "device/cpu/fold.h"
#include "device/cpu/words_suite.h"
#include "testing/cases.h"

namespace hocket::cpu {
namespace {

using Words = std::vector<std::uint64_t>;

std::byte* bytes(Words& words) { return std::as_writable_bytes(std::span(words)).data(); }
const std::byte* bytes(const Words& words) { return std::as_bytes(std::span(words)).data(); }

Words random_words(Prng& random, DataType type) {
  Words words(static_cast<std::size_t>(testing::cases(4'000)));
  fill(words, random, type);
  return words;
}

template <DataType type, ReduceOp op>
void expect_same(const FoldTable& table, std::uint32_t world) {
  const kernels::Element<type, op> element({}, {}, world);
  Prng random(static_cast<std::uint64_t>(op) * kDataTypes + static_cast<std::uint64_t>(type));
  const Words a = random_words(random, type), b = random_words(random, type);
  const std::uint64_t count = 8 * a.size() / size_of(type);
  Words scaled(a.size()), folded(a.size());
  table.scale(type, {bytes(scaled), bytes(a), count, world});
  table.fold(type, op, {bytes(folded), bytes(a), bytes(b), count});
  constexpr bool kAverage = op == ReduceOp::avg;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(element.fold(a[i], b[i]), folded[i]) << std::hex << a[i] << ' ' << b[i];
    ASSERT_EQ(element.before(a[i]), kAverage && is_float(type) ? scaled[i] : a[i]);
    ASSERT_EQ(element.after(a[i]), kAverage && !is_float(type) ? scaled[i] : a[i]);
  }
}

template <DataType type>
void expect_same(const FoldTable& table, std::uint32_t world) {
  SCOPED_TRACE(name_of(type));
  expect_same<type, ReduceOp::sum>(table, world);
  expect_same<type, ReduceOp::prod>(table, world);
  expect_same<type, ReduceOp::min>(table, world);
  expect_same<type, ReduceOp::max>(table, world);
  expect_same<type, ReduceOp::avg>(table, world);
}

void expect_same(const FoldTable& table, std::uint32_t world) {
  expect_same<DataType::float32>(table, world);
  expect_same<DataType::float64>(table, world);
  expect_same<DataType::bfloat16>(table, world);
  expect_same<DataType::float16>(table, world);
  expect_same<DataType::int32>(table, world);
  expect_same<DataType::int64>(table, world);
  expect_same<DataType::uint8>(table, world);
}

TEST(Element, IsTheReferencesArithmetic) {
  for (const std::uint32_t world : {2u, 3u, 7u, 16u}) {
    expect_same(fold_table(InstructionSet::scalar).value(), world);
  }
}

TEST(Element, IsTheVectorKernelsArithmetic) {
  for (const std::uint32_t world : {2u, 3u, 7u, 16u}) expect_same(choose_fold_table(), world);
}

TEST(Element, LeavesWordsThatAreStored) {
  EXPECT_EQ(kernels::Verbatim({}, {}, 3).before(0x7FF0'1234'5678'9ABC), 0x7FF0'1234'5678'9ABC);
}

}  // namespace
}  // namespace hocket::cpu
