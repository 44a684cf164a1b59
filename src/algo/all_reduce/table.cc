// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"
#include "algo/all_reduce/direct.h"
#include "algo/all_reduce/halving_doubling.h"
#include "algo/all_reduce/one_shot.h"
#include "algo/all_reduce/ring.h"
#include "algo/all_reduce/two_level.h"
#include "algo/claims.h"
#include "algo/phases/direct.h"
#include "algo/phases/halving_doubling.h"
#include "algo/phases/ring.h"

namespace hocket::algo::all_reduce {
namespace {

template <class Intra, class Inter>
constexpr Algorithm two_level(const char* name) {
  return {.name = name,
          .collective = Collective::all_reduce,
          .fits = fits_two_level,
          .shape = TwoLevel<Intra, Inter>::shape,
          .round = TwoLevel<Intra, Inter>::round,
          .depth = all_at_once};
}

constexpr Algorithm kRows[] = {
    {.name = "ring",
     .collective = Collective::all_reduce,
     .fits = fits_any,
     .shape = ring::shape,
     .round = ring::round,
     .depth = all_at_once},
    {.name = "halving_doubling",
     .collective = Collective::all_reduce,
     .fits = fits_any,
     .shape = halving_doubling::shape,
     .round = halving_doubling::round,
     .depth = all_at_once},
    {.name = "direct",
     .collective = Collective::all_reduce,
     .fits = fits_any,
     .shape = direct::shape,
     .round = direct::round,
     .depth = all_at_once,
     .pattern = Pattern::push_reduce_push},
    {.name = "one_shot",
     .collective = Collective::all_reduce,
     .fits = fits_any,
     .shape = one_shot::shape,
     .round = one_shot::round,
     .depth = all_at_once,
     .scratch = true,
     .fold_order = FoldOrder::ranks,
     .pattern = Pattern::exchange_and_reduce},
    two_level<Ring, Ring>("two_level(ring,ring)"),
    two_level<Ring, HalvingDoubling>("two_level(ring,halving_doubling)"),
    two_level<Ring, Direct>("two_level(ring,direct)"),
    two_level<HalvingDoubling, Ring>("two_level(halving_doubling,ring)"),
    two_level<HalvingDoubling, HalvingDoubling>("two_level(halving_doubling,halving_doubling)"),
    two_level<HalvingDoubling, Direct>("two_level(halving_doubling,direct)"),
    two_level<Direct, Ring>("two_level(direct,ring)"),
    two_level<Direct, HalvingDoubling>("two_level(direct,halving_doubling)"),
    two_level<Direct, Direct>("two_level(direct,direct)"),
};
static_assert(names_differ(kRows));

}  // namespace

std::span<const Algorithm> table() { return kRows; }

}  // namespace hocket::algo::all_reduce
