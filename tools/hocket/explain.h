// SPDX-License-Identifier: Apache-2.0
// `hocket explain`: what would be selected, on a cluster that need not be there, at what price
// beside every other candidate, what the price is made of, and why the winner won.
#pragma once

namespace CLI {
class App;
}

namespace hocket::tools {

void add_explain(CLI::App& app);

}  // namespace hocket::tools
