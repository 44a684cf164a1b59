// SPDX-License-Identifier: Apache-2.0
// The kernels that the build has embedded: a fat binary for each lowering and one for transfers,
// machine code for the architectures of HOCKET_CUDA_ARCHITECTURES and PTX for later ones. None
// where nvcc was not found when the build was configured. Threads, ownership: constants.
#pragma once
#include <optional>
#include <span>

#include "world/swap.h"

namespace hocket::cuda {

struct Image {
  std::optional<world::Lowering> lowering;  ///< none: transfers
  const void* begin;                        ///< a fat binary knows its size
};

std::span<const Image> images();

}  // namespace hocket::cuda
