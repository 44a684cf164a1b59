// SPDX-License-Identifier: Apache-2.0
// Where unpredictable bytes come from: secrets and ids. Seeded in the simulator. Threads: all.
#pragma once
#include "base/bytes.h"
#include "base/result.h"

namespace hocket::world {

class Random {
 public:
  /// Fills all of `target`, or fails with system.
  virtual Result<void> fill(Bytes target) = 0;

 protected:
  ~Random() = default;
};

}  // namespace hocket::world
