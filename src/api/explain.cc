// SPDX-License-Identifier: Apache-2.0
#include "api/explain.h"

#include <array>
#include <cstdint>

namespace hocket::api {
namespace {

/// Picoseconds as microseconds with two decimals.
std::string microseconds_text(Picoseconds time) {
  const std::uint64_t hundredths = (time + 5'000) / 10'000;
  const std::uint64_t rest = hundredths % 100;
  return std::to_string(hundredths / 100) + (rest < 10 ? ".0" : ".") + std::to_string(rest) + " us";
}

std::string shape_of(const algo::Choice& choice) {
  const auto many = [](std::uint32_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  return many(choice.channels, "channel") + ", " + many(choice.pieces, "piece") + ", slices of " +
         std::to_string(choice.slice_bytes) + " bytes";
}

}  // namespace

Result<std::string> explain(const algo::Tuning& tuning, const Request& request) {
  TRY(const algo::Explanation explained, algo::explain(tuning, request));
  std::string text = std::string(explained.choice.algorithm->name) + ": " + explained.why + "; " +
                     shape_of(explained.choice) + "\n";
  for (const algo::Candidate& candidate : explained.candidates) {
    text += std::string("  ") + candidate.choice.algorithm->name + ": ";
    if (!candidate.refusal.empty()) {
      text += candidate.refusal + "\n";
      continue;
    }
    text += microseconds_text(candidate.price.time) + " (" +
            (candidate.price.exact ? "exact" : "an estimate") + ": " + candidate.price.why + "), " +
            shape_of(candidate.choice) + "\n";
  }
  return text;
}

}  // namespace hocket::api
