// SPDX-License-Identifier: Apache-2.0
// `hocket prove`: proves the plans of every algorithm (plan/prove_all.h has the lists) and prints a
// line for each as it is done. Failure: exit status 1 when a plan is wrong, when what was proven is
// not what the lists promise, or when a row claims scratch that none of its plans uses.
#pragma once
#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace hocket::tools {

struct ProveOptions {
  std::string algorithm = "all";
  std::uint32_t max_ranks = 64;
  std::uint32_t threads = 0;  ///< 0: as many as there are cores
};

/// Returns the exit status: 0, all proven.
int run_prove(const ProveOptions& options);

void add_prove(CLI::App& app);

}  // namespace hocket::tools
