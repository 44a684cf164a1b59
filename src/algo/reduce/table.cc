// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"
#include "algo/claims.h"
#include "algo/reduce/binomial.h"
#include "algo/reduce/chain.h"
#include "algo/reduce/direct.h"

namespace hocket::algo::reduce {
namespace {

constexpr Algorithm kRows[] = {
    {.name = "chain",
     .collective = Collective::reduce,
     .fits = fits_any,
     .shape = chain::shape,
     .round = chain::round,
     .depth = in_a_row,
     .scratch = true},
    {.name = "binomial",
     .collective = Collective::reduce,
     .fits = fits_any,
     .shape = binomial::shape,
     .round = binomial::round,
     .depth = as_a_tree,
     .scratch = true},
    {.name = "direct",
     .collective = Collective::reduce,
     .fits = fits_any,
     .shape = direct::shape,
     .round = direct::round,
     .depth = all_at_once,
     .pattern = Pattern::push_to_root},
};
static_assert(names_differ(kRows));

}  // namespace

std::span<const Algorithm> table() { return kRows; }

}  // namespace hocket::algo::reduce
