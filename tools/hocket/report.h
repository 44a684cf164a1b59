// SPDX-License-Identifier: Apache-2.0
// Figures as a file: what `--json FILE` of every command writes, {command, commit, machine, rows}.
// Times are in fields that end in _us. Threads: one. Failure: write throws std::runtime_error with
// the path and the reason.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace hocket::tools {

class Report {
 public:
  /// `command`: the command line that made it.
  explicit Report(std::string command) : command_(std::move(command)) {}
  void add(nlohmann::ordered_json row) { rows_.push_back(std::move(row)); }
  void write(const std::string& path) const;

 private:
  std::string command_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
};

/// "AMD EPYC, 2 cores, Linux 6.1": where the figures come from.
std::string machine();
/// The command line, as typed.
std::string join_arguments(int count, char** arguments);
/// "8", "64K", "1M", "2G" (binary multiples) as bytes. Throws std::invalid_argument.
std::uint64_t parse_bytes(const std::string& text);
/// 65536 as "64K" where it is a whole multiple, else as it is.
std::string print_bytes(std::uint64_t bytes);

}  // namespace hocket::tools
