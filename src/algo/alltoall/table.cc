// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"
#include "algo/alltoall/direct.h"
#include "algo/claims.h"

namespace hocket::algo::alltoall {
namespace {

constexpr Algorithm kRows[] = {
    {.name = "direct",
     .collective = Collective::alltoall,
     .fits = fits_any,
     .shape = direct::shape,
     .round = direct::round,
     .depth = all_at_once,
     .in_place = false,
     .pattern = Pattern::exchange_blocks},
};
static_assert(names_differ(kRows));

}  // namespace

std::span<const Algorithm> table() { return kRows; }

}  // namespace hocket::algo::alltoall
