// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hocket {

void check_failed(const char* condition, const char* reason, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed: %s\n", file, line, condition, reason);
  std::abort();
}

}  // namespace hocket
