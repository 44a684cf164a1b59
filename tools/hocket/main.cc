// SPDX-License-Identifier: Apache-2.0
// hocket: the command line tool. A command is a file here and an entry in the table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>

#include "hocket/hocket.h"
#include "tools/hocket/bench.h"
#include "tools/hocket/explain.h"
#include "tools/hocket/prove.h"
#include "tools/hocket/sim.h"

namespace {

constexpr void (*kCommands[])(CLI::App&) = {
    hocket::tools::add_bench,
    hocket::tools::add_explain,
    hocket::tools::add_prove,
    hocket::tools::add_sim,
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Hocket: collective communication, one plan for many worlds", "hocket"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::to_string(HOCKET_MAJOR) + "." +
                                        std::to_string(HOCKET_MINOR) + "." +
                                        std::to_string(HOCKET_PATCH));
  for (const auto add : kCommands) add(app);
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw std::system_error(errno, std::generic_category(), "standard output");
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "hocket: {}\n", error.what());
    return 1;
  }
  return 0;
}
