// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/gpu_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace hocket::cuda {

void fail(const std::string& why) {
  fmt::print("FAILED: {}\n", why);
  std::exit(1);
}

Gpu::Gpu(const Driver& driver, int ordinal) : driver_(driver) {
  must(driver.call(driver->device.get, &device_, ordinal));
  must(driver.call(driver->device.retain_context, &context_, device_));
  use();
  module_ = must(Module::load(driver));
}

Gpu::~Gpu() {
  use();
  module_.reset();
  driver_->device.release_context(device_);
}

std::string Gpu::name() const {
  char name[128] = "";
  call(driver_->device.name, name, int{sizeof name}, device_);
  return name;
}

unsigned Gpu::multiprocessors() const {
  int count = 0;
  call(driver_->device.attribute, &count, Attribute::multiprocessors, device_);
  return static_cast<unsigned>(count);
}

bool Gpu::reaches(const Gpu& peer) const {
  int can = 0;
  call(driver_->device.reaches, &can, device_, peer.device_);
  return can != 0;
}

Gpus::Gpus(const Driver& driver) {
  int count = 0;
  must(driver.call(driver->device.count, &count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto gpu = std::make_unique<Gpu>(driver, ordinal);
    const bool is_one_of_us = std::ranges::all_of(
        gpus_, [&](const auto& other) { return gpu->reaches(*other) && other->reaches(*gpu); });
    if (is_one_of_us) gpus_.push_back(std::move(gpu));
  }
  for (const auto& gpu : gpus_) {
    for (const auto& peer : gpus_) {
      if (gpu != peer) gpu->enable(*peer);
    }
  }
}

unsigned Gpus::blocks(std::uint32_t world) const {
  unsigned fewest = gpus_.front()->multiprocessors();
  for (const auto& gpu : gpus_) fewest = std::min(fewest, gpu->multiprocessors());
  const auto sharing = static_cast<unsigned>((world + size() - 1) / size());
  return std::min(fewest / sharing, kernels::kMostBlocks);
}

}  // namespace hocket::cuda
