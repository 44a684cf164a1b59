// SPDX-License-Identifier: Apache-2.0
#include "tools/hocket/report.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

namespace hocket::tools {
namespace {

constexpr char kMultiples[] = "KMGT";

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace

void Report::add(const nlohmann::ordered_json& row) { rows_.push_back(row.dump()); }

void Report::write(const std::string& path) const {
  const nlohmann::ordered_json head = {
      {"command", command_line()}, {"commit", build_commit()}, {"machine", machine()}};
  std::string text = head.dump();
  text.back() = ',';
  text += "\n\"rows\": [";
  for (std::size_t i = 0; i < rows_.size(); ++i) text += (i ? ",\n" : "\n") + rows_[i];
  std::ofstream file(path);
  file << text << "]}\n";
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

void check_writable(const std::string& path) {
  if (!std::ofstream(path, std::ios::app))
    throw CLI::ValidationError("--json", "cannot write " + path);
}

std::string machine() {
  utsname system = {};
  uname(&system);
  return fmt::format("{}, {} cores, {} {}", processor(), std::thread::hardware_concurrency(),
                     system.sysname, system.release);
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string line;
  for (std::string word; std::getline(file, word, '\0');)
    line += (line.empty() ? "" : " ") + (line.empty() ? word.substr(word.rfind('/') + 1) : word);
  return line;
}

double bus_factor(Collective collective, std::uint32_t ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (n - 1) / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::alltoall:
      return (n - 1) / n;
    default:
      return 1;
  }
}

std::uint64_t parse_bytes(const std::string& text, const SizeOption& option) {
  char* end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  bool good = end != text.c_str() && number >= 0;
  if (*end != 0) {
    const char* const multiple = std::strchr(kMultiples, std::toupper(*end));
    good &= multiple != nullptr && (end[1] == 0 || std::string_view(end + 1) == "iB");
    if (good) number *= static_cast<double>(std::uint64_t{1} << (10 * (multiple - kMultiples + 1)));
  }
  if (!good)
    throw CLI::ValidationError(option.name,
                               fmt::format("'{}' is no size such as 8, 64K, 1M or 2G", text));
  if (number < static_cast<double>(option.least) || number > static_cast<double>(option.most))
    throw CLI::ValidationError(option.name, fmt::format("'{}' is not {} to {}", text, option.least,
                                                        print_bytes(option.most)));
  return static_cast<std::uint64_t>(number);
}

std::string print_bytes(std::uint64_t bytes) {
  int i = -1;
  while (bytes >= 1024 && bytes % 1024 == 0 && i + 1 < 4) {
    bytes /= 1024;
    ++i;
  }
  return std::to_string(bytes) + (i >= 0 ? std::string(1, kMultiples[i]) : "");
}

}  // namespace hocket::tools
