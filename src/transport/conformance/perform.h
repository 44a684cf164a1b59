// SPDX-License-Identifier: Apache-2.0
// Performances in real time: all ranks in one thread, each in a thread of its own, or each in a
// forked process of its own. A transport says how it is set up in an operating system process; the
// rest is here. Threads: perform from one thread; in a process that has no others, if it forks.
#pragma once
#include <memory>
#include <utility>

#include "transport/conformance/configuration.h"
#include "world/clock.h"
#include "world/network.h"

namespace hocket::transport::conformance {

/// What one operating system process has of a transport.
class Site {
 public:
  virtual ~Site() = default;
  virtual world::Network& network() = 0;
  virtual world::Clock& clock() = 0;
  virtual world::UniqueId make_id() = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::unique_ptr<Site> open() const = 0;
};

enum class Cast { one_thread, threads, processes };

std::unique_ptr<Configuration> make_configuration(Traits traits, Cast cast,
                                                  std::unique_ptr<Transport> transport);

}  // namespace hocket::transport::conformance
