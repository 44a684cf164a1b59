// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"
#include "algo/claims.h"
#include "algo/reduce_scatter/direct.h"
#include "algo/reduce_scatter/halving_doubling.h"
#include "algo/reduce_scatter/ring.h"

namespace hocket::algo::reduce_scatter {
namespace {

constexpr Algorithm kRows[] = {
    {.name = "ring",
     .collective = Collective::reduce_scatter,
     .fits = fits_any,
     .shape = ring::shape,
     .round = ring::round,
     .depth = all_at_once,
     .scratch = true},
    {.name = "halving_doubling",
     .collective = Collective::reduce_scatter,
     .fits = fits_any,
     .shape = halving_doubling::shape,
     .round = halving_doubling::round,
     .depth = all_at_once,
     .scratch = true},
    {.name = "direct",
     .collective = Collective::reduce_scatter,
     .fits = fits_any,
     .shape = direct::shape,
     .round = direct::round,
     .depth = all_at_once,
     .pattern = Pattern::push_and_reduce},
};
static_assert(names_differ(kRows));

}  // namespace

std::span<const Algorithm> table() { return kRows; }

}  // namespace hocket::algo::reduce_scatter
