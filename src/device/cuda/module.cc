// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/module.h"

#include "base/check.h"
#include "device/kernels/cut.h"

namespace hocket::cuda {
namespace {

std::size_t index_of(const world::Swap& swap) {
  if (swap.combine == world::Combine::store) return 0;
  return 1 + static_cast<std::size_t>(swap.type) * kReduceOps + static_cast<std::size_t>(swap.op);
}

}  // namespace

std::string kernel_name(world::Lowering lowering, const world::Swap& swap) {
  if (swap.combine == world::Combine::store) {
    return std::string("hocket_") + name_of(lowering) + "_store";
  }
  return std::string("hocket_") + name_of(lowering) + "_" + name_of(swap.type) + "_" +
         name_of(swap.op);
}

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
  if (image.lowering) return load_swaps(handle, *image.lowering);
  TRY_VOID(driver_.call(driver_->module.function, &few_transfers_, handle, "hocket_few_transfers"));
  return driver_.call(driver_->module.function, &transfers_, handle, "hocket_transfers");
}

Result<void> Module::load_swaps(ModuleHandle handle, world::Lowering lowering) {
  world::Swap swap;
  const auto find = [&]() -> Result<void> {
    Function& kernel = kernels_[static_cast<std::size_t>(lowering)][index_of(swap)];
    const std::string name = kernel_name(lowering, swap);
    return driver_.call(driver_->module.function, &kernel, handle, name.c_str());
  };
  TRY_VOID(find());
  swap.combine = world::Combine::fold_by_rank;
  for (std::size_t i = 0; i < kDataTypes * kReduceOps; ++i) {
    swap.type = static_cast<DataType>(i / kReduceOps);
    swap.op = static_cast<ReduceOp>(i % kReduceOps);
    TRY_VOID(find());
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
  const Kernels& kernels = kernels_[static_cast<std::size_t>(action.lowering)];
  const Function kernel = kernels[index_of(action.swap)];
  CHECK(kernel != nullptr, "the lowering of a launch has no kernels");
  void* parameters[] = {const_cast<kernels::Domain*>(&domain), const_cast<world::Action*>(&action)};
  return driver_.call(driver_->module.launch, kernel, action.blocks, 1, 1, action.threads, 1, 1, 0,
                      stream, parameters, nullptr);
}

Result<void> Module::launch(Stream stream, const kernels::Domain& domain,
                            const world::Transfers& transfers) const {
  CHECK(transfers.count >= 1 && transfers_ != nullptr, "transfers to launch");
  std::uint32_t stripes = kernels::stripes_of(transfers, domain.capacity);
  const bool are_few = transfers.size() <= world::FewTransfers::kMost;
  const world::FewTransfers few = are_few ? few_of(transfers) : world::FewTransfers();
  const void* const list = are_few ? static_cast<const void*>(&few) : &transfers;
  void* parameters[] = {const_cast<kernels::Domain*>(&domain), const_cast<void*>(list), &stripes};
  return driver_.call(driver_->module.launch, are_few ? few_transfers_ : transfers_,
                      transfers.count * stripes, 1, 1, kernels::transfer_threads(domain.capacity),
                      1, 1, 0, stream, parameters, nullptr);
}

}  // namespace hocket::cuda
