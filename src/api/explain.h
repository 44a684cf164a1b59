// SPDX-License-Identifier: Apache-2.0
// An explanation of a selection as text: the winner and why in the first line ("ring: ..."), then a
// line per candidate. On a stream it is "one_shot by packet: ...". Threads: pure. Failure: as
// algo::explain.
#pragma once
#include <string>

#include "algo/select.h"
#include "engine/stream/executor.h"

namespace hocket::api {

Result<std::string> explain(const algo::Tuning& tuning, const Request& request);
Result<std::string> explain(const engine::stream::Executor& executor, const Request& request);

}  // namespace hocket::api
