// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdlib>
#include <iostream>

namespace hocket {

void check_failed(const char* condition, const char* reason, const char* file, int line) {
  std::cerr << file << ':' << line << ": CHECK(" << condition << ") failed: " << reason
            << std::endl;
  std::abort();
}

}  // namespace hocket
