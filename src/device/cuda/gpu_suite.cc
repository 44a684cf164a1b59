// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/gpu_suite.h"

#include <fmt/format.h>

#include <cstdlib>

namespace hocket::cuda {

void fail(const std::string& why) {
  fmt::print("FAILED: {}\n", why);
  std::exit(1);
}

}  // namespace hocket::cuda
