// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/module.h"

#include "base/check.h"
#include "device/kernels/cut.h"

namespace hocket::cuda {
namespace {

constexpr bool is_of(Kernels kernels, world::Lowering lowering) {
  return static_cast<std::size_t>(kernels) == static_cast<std::size_t>(lowering);
}
static_assert(is_of(Kernels::packet, world::Lowering::packet) &&
              is_of(Kernels::staged, world::Lowering::staged));

std::size_t index_of(DataType type, ReduceOp op) {
  return static_cast<std::size_t>(type) * kReduceOps + static_cast<std::size_t>(op);
}

// Of more than 4 KiB of parameters, drivers before 12.1 know nothing.
static_assert(sizeof(kernels::Domain) + sizeof(world::Transfers) + sizeof(std::uint32_t) <= 4096);

}  // namespace

Result<std::unique_ptr<Module>> Module::load(const Driver& driver, std::span<const Image> images) {
  if (images.empty()) {
    return Error(Code::unsupported,
                 "this build has no kernels: nvcc was not found when it was configured");
  }
  auto module = std::make_unique<Module>(driver);
  for (const Image& image : images) {
    TRY_VOID(module->load(image));
  }
  return module;
}

Result<void> Module::load(const Image& image) {
  ModuleHandle handle = nullptr;
  TRY_VOID(driver_.call(driver_->module.load, &handle, image.begin));
  handles_.push_back(handle);
  if (image.kernels == Kernels::transfers) {
    TRY_VOID(find(few_transfers_, "few_transfers"));
    return find(transfers_, "transfers");
  }
  if (image.kernels == Kernels::folding) return find_all(folding_, "folding");
  Swaps& swaps = swaps_[static_cast<std::size_t>(image.kernels)];
  const std::string lowering = name_of(static_cast<world::Lowering>(image.kernels));
  TRY_VOID(find(swaps.store, lowering + "_store"));
  return find_all(swaps.fold, lowering);
}

Result<void> Module::find(Function& kernel, const std::string& name) {
  const std::string entry = "hocket_" + name;
  return driver_.call(driver_->module.function, &kernel, handles_.back(), entry.c_str());
}

Result<void> Module::find_all(Folding& kernels, const std::string& prefix) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string type = name_of(static_cast<DataType>(i / kReduceOps));
    TRY_VOID(find(kernels[i],
                  prefix + "_" + type + "_" + name_of(static_cast<ReduceOp>(i % kReduceOps))));
  }
  return kOk;
}

Module::~Module() {
  // A context that is gone has taken them along.
  for (const ModuleHandle handle : handles_) driver_->module.unload(handle);
}

Result<void> Module::launch(Stream stream, const kernels::Domain& domain,
                            const world::Action& action) const {
  CHECK(action.blocks >= 1 && action.blocks <= kernels::kMostBlocks, "blocks of a launch");
  CHECK(action.threads >= 32 && action.threads <= kernels::kMostThreads, "threads of a launch");
  const Swaps& swaps = swaps_[static_cast<std::size_t>(action.lowering)];
  const world::Swap& swap = action.swap;
  const Function kernel = swap.combine == world::Combine::store
                              ? swaps.store
                              : swaps.fold[index_of(swap.type, swap.op)];
  CHECK(kernel != nullptr, "the lowering of a launch has no kernels");
  void* parameters[] = {const_cast<kernels::Domain*>(&domain), const_cast<world::Action*>(&action)};
  return driver_.call(driver_->module.launch, kernel, action.blocks, 1, 1, action.threads, 1, 1, 0,
                      stream, parameters, nullptr);
}

Result<void> Module::launch(Stream stream, const kernels::Domain& domain,
                            const world::Transfers& transfers) const {
  const Function kernel = of(transfers);
  CHECK(transfers.count >= 1 && kernel != nullptr, "transfers to launch");
  std::uint32_t stripes = kernels::stripes_of(transfers, domain.capacity);
  const bool are_few = kernel != transfers_;
  const world::FewTransfers few = are_few ? few_of(transfers) : world::FewTransfers();
  const void* const list = are_few ? static_cast<const void*>(&few) : &transfers;
  void* parameters[] = {const_cast<kernels::Domain*>(&domain), const_cast<void*>(list), &stripes};
  return driver_.call(driver_->module.launch, kernel, transfers.count * stripes, 1, 1,
                      kernels::transfer_threads(domain.capacity), 1, 1, 0, stream, parameters,
                      nullptr);
}

Function Module::of(const world::Transfers& transfers) const {
  const bool are_few = transfers.size() <= world::FewTransfers::kMost;
  CHECK(are_few || !transfers.folds, "only few transfers fold");
  if (transfers.folds) return folding_[index_of(transfers.type, transfers.op)];
  return are_few ? few_transfers_ : transfers_;
}

}  // namespace hocket::cuda
