// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"
#include "algo/all_gather/direct.h"
#include "algo/all_gather/halving_doubling.h"
#include "algo/all_gather/ring.h"
#include "algo/claims.h"

namespace hocket::algo::all_gather {
namespace {

constexpr Algorithm kRows[] = {
    {.name = "ring",
     .collective = Collective::all_gather,
     .fits = fits_any,
     .shape = ring::shape,
     .round = ring::round,
     .depth = all_at_once},
    {.name = "halving_doubling",
     .collective = Collective::all_gather,
     .fits = fits_any,
     .shape = halving_doubling::shape,
     .round = halving_doubling::round,
     .depth = all_at_once},
    {.name = "direct",
     .collective = Collective::all_gather,
     .fits = fits_any,
     .shape = direct::shape,
     .round = direct::round,
     .depth = all_at_once,
     .pattern = Pattern::push_to_all},
};
static_assert(names_differ(kRows));

}  // namespace

std::span<const Algorithm> table() { return kRows; }

}  // namespace hocket::algo::all_gather
