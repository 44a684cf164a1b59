// SPDX-License-Identifier: Apache-2.0
// What the environment may say, read once and then passed on as a const Config&: nobody else reads
// the environment. One table (config.cc) has each variable's name, type, limits, default and one
// line of documentation; docs/ENVIRONMENT.md is that table, and a test compares them.
// Threads: values. Failure: invalid_argument, naming the variable, its value and what is allowed.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace hocket::host {

enum class LogLevel : std::uint8_t { none, warn, trace };
inline constexpr std::size_t kLogLevels = 3;
const char* name_of(LogLevel level);

/// Defaults are what holds without a word from the environment. What hocket_options has too is the
/// default of communicators that do not say otherwise.
struct Config {
  LogLevel log = LogLevel::warn;
  std::string algorithm;             ///< of every collective that has it; empty: selected
  std::uint32_t channels = 4;        ///< most of any plan
  std::uint64_t slice_bytes = 0;     ///< largest message; 0: the transport's choice
  std::uint32_t ranks_per_node = 0;  ///< plan as if nodes ended every so many ranks; 0: as it is
  Duration op_timeout = kForever;
  Duration init_timeout = seconds(60);
  bool shm_cross_memory = true;
  std::uint32_t shm_credits = 8;
  std::uint64_t shm_staged_bytes = 256 << 10;
  std::uint32_t trace_events = 1024;  ///< of the flight recorder, per rank; a power of two
  bool operator==(const Config&) const = default;
};

struct Environment {
  Config config;
  std::vector<std::string> warnings;  ///< one per HOCKET_ name that the table does not have
};

/// Of `NAME=VALUE` strings with a null after the last. An empty value is as good as none.
Result<Environment> parse_environment(const char* const* variables);
/// Of this process (env.cc). Not while another thread changes it.
Result<Environment> read_environment();
/// The table in Markdown.
std::string environment_table();

}  // namespace hocket::host
