// SPDX-License-Identifier: Apache-2.0
#include "algo/table.h"

#include <algorithm>

namespace hocket::algo {
namespace {

constexpr std::span<const Algorithm> (*kTables[kCollectives])() = {
    all_reduce::table, all_gather::table, reduce_scatter::table, broadcast::table,
    reduce::table,     alltoall::table,   barrier::table,        send_recv::table,
};

}  // namespace

std::span<const Algorithm> algorithms(Collective collective) {
  return kTables[static_cast<std::size_t>(collective)]();
}

const Algorithm* find(Collective collective, std::string_view name) {
  const std::span<const Algorithm> rows = algorithms(collective);
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Algorithm& algorithm) { return name == algorithm.name; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace hocket::algo
