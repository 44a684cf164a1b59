// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"
#include "algo/barrier/direct.h"
#include "algo/barrier/halving_doubling.h"
#include "algo/claims.h"

namespace hocket::algo::barrier {
namespace {

constexpr Algorithm kRows[] = {
    {.name = "halving_doubling",
     .collective = Collective::barrier,
     .fits = fits_any,
     .shape = halving_doubling::shape,
     .round = halving_doubling::round,
     .depth = all_at_once},
    {.name = "direct",
     .collective = Collective::barrier,
     .fits = fits_any,
     .shape = direct::shape,
     .round = direct::round,
     .depth = all_at_once,
     .pattern = Pattern::signal_all},
};
static_assert(names_differ(kRows));

}  // namespace

std::span<const Algorithm> table() { return kRows; }

}  // namespace hocket::algo::barrier
