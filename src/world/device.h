// SPDX-License-Identifier: Apache-2.0
// What computes and owns memory: the host's cores (device/cpu), later a GPU. Each action returns
// true when it is done, or false when it will resume waiter.handle later; until then the frame and
// the buffers stay, but not the Fold or Scale that describes it. Null data means an elided payload:
// the time passes, nothing is touched.
// Threads: whoever holds the baton. Failure: only allocate can fail.
#pragma once
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "base/types.h"
#include "world/fabric.h"

namespace hocket::world {

struct Fold {  ///< target[i] = local[i] op arrived[i]; equal sizes; target may be local or arrived
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  Bytes target;
  ConstBytes local, arrived;
};

struct Scale {  ///< target[i] = source[i] / divisor, as avg needs it; target may be source
  DataType type = DataType::float32;
  Bytes target;
  ConstBytes source;
  std::uint32_t divisor = 1;
};

class Device {
 public:
  [[nodiscard]] virtual bool fold(Waiter& waiter, const Fold& fold) = 0;
  /// Ranges may be the same (then nothing moves) but do not overlap partially.
  [[nodiscard]] virtual bool copy(Waiter& waiter, Bytes target, ConstBytes source) = 0;
  [[nodiscard]] virtual bool scale(Waiter& waiter, const Scale& scale) = 0;

  /// Scratch; aligned to 64; fails with out_of_memory naming the size.
  virtual Result<Bytes> allocate(std::uint64_t bytes) = 0;
  virtual void free(Bytes memory) = 0;

 protected:
  ~Device() = default;
};

}  // namespace hocket::world
