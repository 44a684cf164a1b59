// SPDX-License-Identifier: Apache-2.0
// Every algorithm there is, by collective: a row each in the table of its folder. Threads: the
// tables are constant.
#pragma once
#include <span>
#include <string_view>

#include "plan/plan.h"

namespace hocket::algo {

std::span<const Algorithm> algorithms(Collective collective);

/// Null when the collective has no algorithm of that name.
const Algorithm* find(Collective collective, std::string_view name);

namespace all_reduce {
std::span<const Algorithm> table();
}
namespace all_gather {
std::span<const Algorithm> table();
}
namespace reduce_scatter {
std::span<const Algorithm> table();
}
namespace broadcast {
std::span<const Algorithm> table();
}
namespace reduce {
std::span<const Algorithm> table();
}
namespace alltoall {
std::span<const Algorithm> table();
}
namespace barrier {
std::span<const Algorithm> table();
}
namespace send_recv {
std::span<const Algorithm> table();
}

}  // namespace hocket::algo
