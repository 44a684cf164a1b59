// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"
#include "algo/broadcast/binomial.h"
#include "algo/broadcast/chain.h"
#include "algo/broadcast/direct.h"
#include "algo/claims.h"

namespace hocket::algo::broadcast {
namespace {

constexpr Algorithm kRows[] = {
    {.name = "chain",
     .collective = Collective::broadcast,
     .fits = fits_any,
     .shape = chain::shape,
     .round = chain::round,
     .depth = in_a_row},
    {.name = "binomial",
     .collective = Collective::broadcast,
     .fits = fits_any,
     .shape = binomial::shape,
     .round = binomial::round,
     .depth = as_a_tree},
    {.name = "direct",
     .collective = Collective::broadcast,
     .fits = fits_any,
     .shape = direct::shape,
     .round = direct::round,
     .depth = all_at_once,
     .pattern = Pattern::push_from_root},
};
static_assert(names_differ(kRows));

}  // namespace

std::span<const Algorithm> table() { return kRows; }

}  // namespace hocket::algo::broadcast
