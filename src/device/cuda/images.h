// SPDX-License-Identifier: Apache-2.0
// The kernels that the build has embedded: one fat binary for each lowering, machine code for the
// architectures of HOCKET_CUDA_ARCHITECTURES and PTX for later ones. None where nvcc was not found
// when the build was configured. Threads, ownership: constants.
#pragma once
#include <span>

#include "world/swap.h"

namespace hocket::cuda {

struct Image {
  world::Lowering lowering;
  const void* begin;  ///< a fat binary knows its size
};

std::span<const Image> images();

}  // namespace hocket::cuda
