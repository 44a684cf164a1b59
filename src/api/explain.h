// SPDX-License-Identifier: Apache-2.0
// An explanation of a selection as text: the winner and why in the first line ("ring: ..."), then a
// line per candidate. Threads: pure. Failure: as algo::explain.
#pragma once
#include <string>

#include "algo/select.h"

namespace hocket::api {

Result<std::string> explain(const algo::Tuning& tuning, const Request& request);

}  // namespace hocket::api
