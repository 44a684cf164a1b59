// SPDX-License-Identifier: Apache-2.0
// Figures as a file: what `--json FILE` of every command writes, {command, commit, machine, rows}.
// Times are in fields that end in _us. Threads: one. Failure: write throws std::runtime_error with
// the path and the reason.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/types.h"

namespace hocket::tools {

class Report {
 public:
  void add(const nlohmann::ordered_json& row);
  void write(const std::string& path) const;

 private:
  std::vector<std::string> rows_;  // as they will stand in the file
};

/// Before a long run; throws CLI::ValidationError about --json.
void check_writable(const std::string& path);
/// "AMD EPYC, 2 cores, Linux 6.1": where the figures come from.
std::string machine();
/// The commit that this was built from, with "-dirty" if something was not committed.
const char* build_commit();
/// The command line of this process.
std::string command_line();
/// nccl-tests' factor: bus bandwidth is the algorithm's (bytes of the block space over time) times
/// this.
double bus_factor(Collective collective, std::uint32_t ranks);
struct SizeOption {  ///< of a command, and the sizes that it takes
  const char* name;
  std::uint64_t least, most;
};
/// "8", "64K", "1M", "2G" (binary multiples) as bytes. Throws CLI::ValidationError, naming the
/// option.
std::uint64_t parse_bytes(const std::string& text, const SizeOption& option);
/// 65536 as "64K" where it is a whole multiple, else as it is.
std::string print_bytes(std::uint64_t bytes);

}  // namespace hocket::tools
