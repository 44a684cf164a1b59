// SPDX-License-Identifier: Apache-2.0
#include "trace/event.h"

#include <array>

namespace hocket::trace {

const char* name_of(Kind kind) {
  constexpr std::array<const char*, kKinds> kNames = {
      "none", "op_submitted", "op_started", "op_completed", "op_failed", "peer_late", "peer_lost"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace hocket::trace
