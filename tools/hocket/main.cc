// SPDX-License-Identifier: Apache-2.0
// hocket: the command line tool. A command is a file here and an entry in the table.
#include <CLI/CLI.hpp>

#include "tools/hocket/bench.h"
#include "tools/hocket/prove.h"

namespace {

constexpr void (*kCommands[])(CLI::App&) = {
    hocket::tools::add_bench,
    hocket::tools::add_prove,
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Hocket: collective communication, one plan for many worlds", "hocket"};
  app.require_subcommand(1);
  for (const auto add : kCommands) add(app);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
