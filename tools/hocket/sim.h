// SPDX-License-Identifier: Apache-2.0
// `hocket sim run`: a collective on a simulated cluster, by the real engine, in virtual time. Each
// row is a process of its own, so that the memory it reports is its own.
#pragma once

namespace CLI {
class App;
}

namespace hocket::tools {

void add_sim(CLI::App& app);

}  // namespace hocket::tools
