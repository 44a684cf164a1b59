// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_device.h"

#include <cstdlib>
#include <string>

#include "device/cpu/copy.h"

namespace hocket::cpu {
namespace {

constexpr std::uint64_t kAlignment = 64;

}  // namespace

bool CpuDevice::fold(world::Waiter&, const world::Fold& fold) {
  if (fold.target.data == nullptr || fold.target.size == 0) return true;
  const std::uint64_t count = count_in(fold.target.size, fold.type);
  table_.fold(fold.type, fold.op, {fold.target.data, fold.local.data, fold.arrived.data, count});
  return true;
}

bool CpuDevice::copy(world::Waiter&, Bytes target, ConstBytes source) {
  if (target.data != nullptr) cpu::copy(target.data, source.data, target.size);
  return true;
}

bool CpuDevice::scale(world::Waiter&, const world::Scale& scale) {
  if (scale.target.data == nullptr || scale.target.size == 0) return true;
  const std::uint64_t count = count_in(scale.target.size, scale.type);
  table_.scale(scale.type, {scale.target.data, scale.source.data, count, scale.divisor});
  return true;
}

Result<Bytes> CpuDevice::allocate(std::uint64_t bytes) {
  const std::uint64_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory = whole >= bytes ? std::aligned_alloc(kAlignment, whole) : nullptr;
  if (memory == nullptr && bytes > 0)
    return Error(Code::out_of_memory,
                 "no memory for " + std::to_string(bytes) + " bytes of scratch");
  return Bytes{static_cast<std::byte*>(memory), bytes};
}

void CpuDevice::free(Bytes memory) { std::free(memory.data); }

}  // namespace hocket::cpu
