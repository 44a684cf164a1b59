// SPDX-License-Identifier: Apache-2.0
#include "host/log.h"

#include <unistd.h>

#include "base/error.h"
#include "base/ids.h"
#include "base/types.h"

namespace hocket::host {
namespace {

std::string details(const trace::Event& event) {
  const std::string a = std::to_string(event.a), b = std::to_string(event.b);
  switch (event.kind) {
    case trace::Kind::op_submitted:
      return std::string(name_of(static_cast<Collective>(event.b & 0xff))) + ' ' +
             name_of(static_cast<DataType>(event.b >> 8 & 0xff)) + ' ' +
             name_of(static_cast<ReduceOp>(event.b >> 16 & 0xff)) + ", " + a + " bytes, submitted";
    case trace::Kind::op_started:
      return "algorithm " + a + ", " + std::to_string(event.b & 0xffff) + " channels, " +
             std::to_string(event.b >> 16) + " pieces, started";
    case trace::Kind::op_completed:
      return "completed after " + a + " ns";
    case trace::Kind::op_failed:
      return std::string("failed: ") + name_of(static_cast<Code>(event.a)) +
             (event.b == kNobody.value ? ", culprit undetermined" : ", culprit rank " + b);
    case trace::Kind::peer_late:
      return "peer " + b + " has been silent for " + std::to_string(event.a / 1'000'000) + " ms";
    case trace::Kind::peer_lost:
      return "peer " + b + " is lost";
    case trace::Kind::none:
      break;
  }
  return "nothing";
}

}  // namespace

void Log::warn(std::string_view text) {
  if (level_ >= LogLevel::warn) write_line(text);
}

std::string Log::text_of(const trace::Event& event) {
  return "rank " + std::to_string(event.rank) +
         (event.op != 0 ? " op " + std::to_string(event.op) : std::string()) + ": " +
         details(event);
}

void Log::write_line(std::string_view text) {
  const std::string line = "hocket: " + std::string(text) + '\n';
  [[maybe_unused]] const ssize_t written = write(descriptor_, line.data(), line.size());
}

}  // namespace hocket::host
