// SPDX-License-Identifier: Apache-2.0
// The kernel's random bytes (getrandom): fit for secrets. Threads: all. Failure: system, on kernels
// that have none. Cost: a system call.
#pragma once
#include "world/random.h"

namespace hocket::host {

class Random final : public world::Random {
 public:
  Result<void> fill(Bytes target) override;
};

}  // namespace hocket::host
