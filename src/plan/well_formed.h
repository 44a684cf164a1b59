// SPDX-License-Identifier: Apache-2.0
// What can be said of exchanges without running them: of one, that it makes sense to the rank that
// makes it; of the two ends of a message, that they agree. Threads: pure functions.
#pragma once
#include <cstdint>

#include "plan/plan.h"

namespace hocket::proof {

/// Whether `buffer` of a rank holds any of the block space, and if so, whether only block `me`.
enum class Holding : std::uint8_t { nothing, own_block, everything };
Holding holding(const Plan& plan, const Request& request, Rank me, Buffer buffer);

/// What is wrong with round `k` of `at.me`; null: nothing.
const char* ill_formed(const Plan& plan, const At& at, std::uint32_t k, const Exchange& exchange);

/// What the two ends of a message disagree about; null: nothing. They agree on its size if they
/// name the same blocks, or one block each of those that are all equally long (slices.h).
const char* disagreement(const Plan& plan, const Exchange& sent, const Exchange& received);

constexpr bool uses_scratch(const Exchange& x) {
  return (x.to != kNobody && x.out.buffer == Buffer::scratch) ||
         (x.from != kNobody && (x.in.buffer == Buffer::scratch || x.fold == Fold::scratch));
}

}  // namespace hocket::proof
