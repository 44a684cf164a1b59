// SPDX-License-Identifier: Apache-2.0
// The kernels of all lowerings in one device's context, and their launches.
//
// All of them are loaded at once: a kernel that is loaded by its first launch may wait for a kernel
// that spins, which may wait for that launch.
//
// Threads: any thread in whose current context it was loaded; a Module does not change.
// Ownership: borrows the driver, which outlives it; destroy it with its context current and no
// kernel of it running. Failure: as Driver's; `unsupported` if this build has no kernels.
// Cost: load 10 ms; a launch 2 us of the caller's time.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/driver.h"
#include "device/cuda/images.h"
#include "device/kernels/domain.h"
#include "world/transfers.h"

namespace hocket::cuda {

class Module {
 public:
  /// Holds no kernels.
  explicit Module(const Driver& driver) : driver_(driver) {}
  /// Holds those of `images`, in the current context.
  static Result<std::unique_ptr<Module>> load(const Driver& driver,
                                              std::span<const Image> images = cuda::images());
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Enqueues `action`. Blocks and threads are within kMostBlocks and kMostThreads, threads a
  /// multiple of 32; the parts fit into the domain's mailboxes.
  Result<void> launch(Stream stream, const kernels::Domain& domain,
                      const world::Action& action) const;
  /// Enqueues transfers, with as many stripes for each direction as the longest is worth.
  Result<void> launch(Stream stream, const kernels::Domain& domain,
                      const world::Transfers& transfers) const;

 private:
  /// By type and op.
  using Folding = std::array<Function, kDataTypes * kReduceOps>;
  struct Swaps {  ///< of one lowering
    Function store = nullptr;
    Folding fold = {};
  };

  Result<void> load(const Image& image);
  Result<void> find(Function& kernel, const std::string& name);
  /// hocket_PREFIX_float32_sum and so on.
  Result<void> find_all(Folding& kernels, const std::string& prefix);
  Function of(const world::Transfers& transfers) const;

  const Driver& driver_;
  std::vector<ModuleHandle> handles_;
  std::array<Swaps, world::kLowerings> swaps_ = {};
  Function transfers_ = nullptr, few_transfers_ = nullptr;
  Folding folding_ = {};
};

}  // namespace hocket::cuda
