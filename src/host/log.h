// SPDX-License-Identifier: Apache-2.0
// What people see without asking: one line of standard error for each event that deserves a
// warning, "hocket: rank 2 op 7: peer 3 is lost", and all events at level trace. As a TraceSink it
// stands beside the flight recorder, which keeps everything.
// Threads: all; a line is one write. Failure: a line that cannot be written is lost.
// Cost: nothing for what is not printed but a comparison.
#pragma once
#include <string>
#include <string_view>

#include "host/config.h"
#include "world/trace_sink.h"

namespace hocket::host {

class Log final : public world::TraceSink {
 public:
  explicit Log(LogLevel level, int descriptor = 2) : level_(level), descriptor_(descriptor) {}

  /// "hocket: TEXT", at level warn.
  void warn(std::string_view text);
  void record(const trace::Event& event) override {
    if (level_ >= level_of(event.kind)) [[unlikely]]
      write_line(text_of(event));
  }

  /// What an event says, after "hocket: ".
  static std::string text_of(const trace::Event& event);

 private:
  static LogLevel level_of(trace::Kind kind) {
    const bool warns = kind == trace::Kind::op_failed || kind == trace::Kind::peer_late ||
                       kind == trace::Kind::peer_lost;
    return warns ? LogLevel::warn : LogLevel::trace;
  }
  void write_line(std::string_view text);
  const LogLevel level_;
  const int descriptor_;
};

}  // namespace hocket::host
