// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"
#include "algo/claims.h"
#include "algo/send_recv/direct.h"

namespace hocket::algo::send_recv {
namespace {

constexpr Algorithm kRows[] = {
    {.name = "direct",
     .collective = Collective::send_recv,
     .fits = fits_any,
     .shape = direct::shape,
     .round = direct::round,
     .depth = all_at_once},
};
static_assert(names_differ(kRows));

}  // namespace

std::span<const Algorithm> table() { return kRows; }

}  // namespace hocket::algo::send_recv
