// SPDX-License-Identifier: Apache-2.0
// Where a rank's events go: the last ones into a flight recorder's ring, those that deserve a line
// to the log. Threads: whoever holds the baton. Ownership: its own memory. Cost: ring.h's.
#pragma once
#include <memory>

#include "host/log.h"
#include "trace/ring.h"
#include "world/trace_sink.h"

namespace hocket::api {

class Recorder final : public world::TraceSink {
 public:
  Recorder(const host::Config& config, Rank rank)
      : memory_(std::make_unique<std::uint64_t[]>(
            trace::Ring::bytes_for(config.trace_events) / sizeof(std::uint64_t) + 1)),
        ring_({reinterpret_cast<std::byte*>(memory_.get()),
               trace::Ring::bytes_for(config.trace_events)},
              config.trace_events, rank),
        log_(config.log) {}

  void record(const trace::Event& event) override {
    ring_.record(event);
    log_.record(event);
  }

 private:
  std::unique_ptr<std::uint64_t[]> memory_;
  trace::Ring ring_;
  host::Log log_;
};

}  // namespace hocket::api
