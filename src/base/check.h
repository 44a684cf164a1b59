// SPDX-License-Identifier: Apache-2.0
// CHECK states what the programmer promises; it is always on and ends the process with the place
// and the reason. What a user, a peer or a kernel can cause is a Result instead (result.h).
// DCHECK is for checks too dear for production; HOCKET_DCHECK turns it on (dev, sanitizers).
#pragma once

namespace hocket {

/// Writes one line to standard error and aborts. Never returns.
[[noreturn]] void check_failed(const char* condition, const char* reason, const char* file,
                               int line);

}  // namespace hocket

#define CHECK(condition, reason)                       \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::hocket::check_failed(#condition, reason, __FILE__, __LINE__))

#ifdef HOCKET_DCHECK
#define DCHECK(condition, reason) CHECK(condition, reason)
#else
#define DCHECK(condition, reason) static_cast<void>(0)
#endif
