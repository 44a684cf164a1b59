// SPDX-License-Identifier: Apache-2.0
// The host's cores as a device: every action is done when the call returns. Threads: whoever holds
// the baton; the object itself is immutable. Ownership: scratch belongs to who allocated it until
// free. Failure: allocate, with out_of_memory.
#pragma once
#include "device/cpu/fold.h"
#include "world/device.h"

namespace hocket::cpu {

class CpuDevice final : public world::Device {
 public:
  explicit CpuDevice(FoldTable table = choose_fold_table()) : table_(table) {}

  bool fold(world::Waiter& waiter, const world::Fold& fold) override;
  bool copy(world::Waiter& waiter, Bytes target, ConstBytes source) override;
  bool scale(world::Waiter& waiter, const world::Scale& scale) override;
  Result<Bytes> allocate(std::uint64_t bytes) override;
  void free(Bytes memory) override;

 private:
  const FoldTable table_;
};

}  // namespace hocket::cpu
