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

/// A line each; `shape` says how, beside the price.
template <class Shape>
std::string lines_of(const algo::Explanation& explained, Shape shape) {
  std::string text;
  for (const algo::Candidate& candidate : explained.candidates) {
    text += std::string("  ") + candidate.choice.algorithm->name + ": ";
    if (!candidate.refusal.empty()) {
      text += candidate.refusal + "\n";
      continue;
    }
    text += microseconds_text(candidate.price.time) + " (" +
            (candidate.price.exact ? "exact" : "an estimate") + ": " + candidate.price.why + ")" +
            shape(candidate.choice) + "\n";
  }
  return text;
}

}  // namespace

Result<std::string> explain(const algo::Tuning& tuning, const Request& request) {
  TRY(const algo::Explanation explained, algo::explain(tuning, request));
  return std::string(explained.choice.algorithm->name) + ": " + explained.why + "; " +
         shape_of(explained.choice) + "\n" +
         lines_of(explained, [](const algo::Choice& choice) { return ", " + shape_of(choice); });
}

Result<std::string> explain(const engine::stream::Executor& executor, const Request& request) {
  if (request.collective == Collective::send_recv) {
    const std::uint64_t bytes = request.count * size_of(request.type);
    return std::string("direct by ") + name_of(executor.lowering_of(bytes)) + ": a message of " +
           std::to_string(bytes) + " bytes\n";
  }
  TRY(const engine::stream::Executor::Way way, executor.way(request));
  TRY(const algo::Explanation explained, algo::explain(*executor.config().tuning, request));
  const std::string how = way.by_rounds()
                              ? std::to_string(way.plan.shape.rounds) + " rounds, each a launch"
                              : engine::stream::explain(way.manner, way.part_bytes, way.limits);
  return std::string(explained.choice.algorithm->name) + " by " +
         (way.by_rounds() ? "rounds" : name_of(way.manner.lowering)) + ": " + explained.why + "; " +
         how + "\n" + lines_of(explained, [](const algo::Choice&) { return std::string(); });
}

}  // namespace hocket::api
