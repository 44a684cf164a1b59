// SPDX-License-Identifier: Apache-2.0
#include "host/config.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

namespace hocket::host {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

/// A member's type is the variable's: uint64_t counts bytes, a Duration is told in milliseconds.
using Member = std::variant<LogLevel Config::*, std::string Config::*, bool Config::*,
                            std::uint32_t Config::*, std::uint64_t Config::*, Duration Config::*>;

struct Variable {
  const char* name;
  Member member;
  const char* doc;
  std::uint64_t least = 0, most = 0;  // of numbers
  const char* zero = nullptr;         // what 0 means, where it means something else than none
  bool power_of_two = false;
};

constexpr std::uint64_t kMostMs = INT32_MAX;

constexpr Variable kVariables[] = {
    {"HOCKET_LOG", &Config::log, "what is written to standard error"},
    {"HOCKET_ALGO", &Config::algorithm,
     "algorithm of every collective that has it (`hocket explain` lists them)"},
    {"HOCKET_CHANNELS", &Config::channels, "most channels of a plan", 1, 64},
    {"HOCKET_SLICE_BYTES", &Config::slice_bytes, "largest message", 64, 1 << 30,
     "the transport's choice"},
    {"HOCKET_RANKS_PER_NODE", &Config::ranks_per_node,
     "plan as if a node ended every so many ranks", 1, INT32_MAX, "as it is"},
    {"HOCKET_TIMEOUT_MS", &Config::op_timeout, "how long an op may take before it fails", 1,
     kMostMs, "for ever"},
    {"HOCKET_INIT_TIMEOUT_MS", &Config::init_timeout,
     "how long the ranks of a communicator wait for one another", 1, kMostMs},
    {"HOCKET_SHM_CMA", &Config::shm_cross_memory,
     "whether ranks read one another's memory through the kernel where it allows that"},
    {"HOCKET_SHM_CREDITS", &Config::shm_credits, "messages in flight per pair of ranks and channel",
     1, 64},
    {"HOCKET_SHM_STAGED_BYTES", &Config::shm_staged_bytes,
     "up to this size a message goes through the shared segment", 64, 1 << 30},
    {"HOCKET_TRACE_EVENTS", &Config::trace_events, "events that each rank's recorder keeps", 64,
     1 << 24, nullptr, true},
};

constexpr std::uint64_t kKibi = 1024;
struct Suffix {
  char letter;
  std::uint64_t factor;
};
constexpr Suffix kSuffixes[] = {{'G', kKibi* kKibi* kKibi}, {'M', kKibi* kKibi}, {'K', kKibi}};

std::string bytes_text(std::uint64_t bytes) {
  for (const auto& [letter, factor] : kSuffixes)
    if (bytes >= factor && bytes % factor == 0) return std::to_string(bytes / factor) + letter;
  return std::to_string(bytes);
}

/// All of `text` as a number; with a suffix K, M or G if it counts bytes.
std::optional<std::uint64_t> number(std::string_view text, bool counts_bytes) {
  std::uint64_t factor = 1;
  for (const auto& suffix : kSuffixes) {
    if (!counts_bytes || !text.ends_with(suffix.letter)) continue;
    factor = suffix.factor;
    text.remove_suffix(1);
    break;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value > UINT64_MAX / factor) return std::nullopt;
  return value * factor;
}

// What one type of variable can do: read a value (false: not allowed), write the default, say what
// is allowed.

bool read(const Variable&, std::string_view text, LogLevel& target) {
  for (std::size_t i = 0; i < kLogLevels; ++i) {
    if (text != name_of(static_cast<LogLevel>(i))) continue;
    target = static_cast<LogLevel>(i);
    return true;
  }
  return false;
}

bool read(const Variable&, std::string_view text, std::string& target) {
  constexpr auto kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789_(),"sv;
  target = text;
  return text.find_first_not_of(kOfNames) == text.npos;
}

bool read(const Variable&, std::string_view text, bool& target) {
  target = text == "1";
  return text == "0" || text == "1";
}

std::optional<std::uint64_t> read_number(const Variable& variable, std::string_view text,
                                         bool counts_bytes) {
  const std::optional<std::uint64_t> value = number(text, counts_bytes);
  if (!value) return std::nullopt;
  if (*value == 0 && variable.zero != nullptr) return value;
  if (*value < variable.least || *value > variable.most) return std::nullopt;
  if (variable.power_of_two && !std::has_single_bit(*value)) return std::nullopt;
  return value;
}

template <class Integer>
bool read(const Variable& variable, std::string_view text, Integer& target) {
  const auto value = read_number(variable, text, std::is_same_v<Integer, std::uint64_t>);
  target = static_cast<Integer>(value.value_or(0));
  return value.has_value();
}

bool read(const Variable& variable, std::string_view text, Duration& target) {
  const auto value = read_number(variable, text, false);
  const std::uint64_t ms = value.value_or(0);
  target = ms == 0 ? kForever : milliseconds(static_cast<std::int64_t>(ms));
  return value.has_value();
}

std::string written(LogLevel value) { return name_of(value); }
std::string written(const std::string&) { return "selected"; }
std::string written(bool value) { return value ? "1" : "0"; }
std::string written(std::uint32_t value) { return std::to_string(value); }
std::string written(std::uint64_t value) { return bytes_text(value); }
std::string written(Duration value) {
  return value == kForever ? "0" : std::to_string(value.ns / 1'000'000);
}

std::string range(const Variable& variable, std::string (*text)(std::uint64_t), const char* unit) {
  return (variable.power_of_two ? "a power of two, "s : ""s) + text(variable.least) + " to " +
         text(variable.most) + unit + (variable.zero != nullptr ? "; 0: "s + variable.zero : ""s);
}
std::string plain_text(std::uint64_t value) { return std::to_string(value); }

std::string allowed(const Variable&, LogLevel) { return "none, warn or trace"; }
std::string allowed(const Variable&, const std::string&) { return "an algorithm's name"; }
std::string allowed(const Variable&, bool) { return "0 or 1"; }
std::string allowed(const Variable& variable, std::uint32_t) {
  return range(variable, plain_text, "");
}
std::string allowed(const Variable& variable, std::uint64_t) {
  return range(variable, bytes_text, " bytes");
}
std::string allowed(const Variable& variable, Duration) {
  return range(variable, plain_text, " ms");
}

Result<void> assign(Config& config, const Variable& variable, std::string_view value) {
  const auto assign_member = [&](auto member) -> Result<void> {
    if (read(variable, value, config.*member)) return kOk;
    return Error(Code::invalid_argument, std::string(variable.name) + " is '" + std::string(value) +
                                             "', not " + allowed(variable, config.*member));
  };
  return std::visit(assign_member, variable.member);
}

}  // namespace

const char* name_of(LogLevel level) {
  constexpr std::array<const char*, kLogLevels> kNames = {"none", "warn", "trace"};
  return kNames[static_cast<std::size_t>(level)];
}

Result<Environment> parse_environment(const char* const* variables) {
  Environment environment;
  for (; *variables != nullptr; ++variables) {
    const std::string_view text = *variables;
    if (!text.starts_with("HOCKET_")) continue;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, equals);
    const std::string_view value = text.substr(std::min(equals + 1, text.size()));
    const auto* const known = std::find_if(std::begin(kVariables), std::end(kVariables),
                                           [&](const Variable& v) { return v.name == name; });
    if (known == std::end(kVariables)) {
      environment.warnings.push_back(std::string(name) +
                                     " is no variable of Hocket's (docs/ENVIRONMENT.md)");
    } else if (!value.empty()) {
      TRY_VOID(assign(environment.config, *known, value));
    }
  }
  return environment;
}

std::string environment_table() {
  const Config defaults;
  std::string table = "| variable | allowed | default | what it is |\n|---|---|---|---|\n";
  for (const Variable& variable : kVariables) {
    const auto row = [&](auto member) {
      return "| `"s + variable.name + "` | " + allowed(variable, defaults.*member) + " | " +
             written(defaults.*member) + " | " + variable.doc + " |\n";
    };
    table += std::visit(row, variable.member);
  }
  return table;
}

}  // namespace hocket::host
