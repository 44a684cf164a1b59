// SPDX-License-Identifier: Apache-2.0
// The kernels that the build has embedded: fat binaries, machine code for the architectures of
// HOCKET_CUDA_ARCHITECTURES and PTX for later ones. None where nvcc was not found when the build
// was configured. Threads, ownership: constants.
#pragma once
#include <cstdint>
#include <span>

namespace hocket::cuda {

/// What an image has kernels for: swaps of a lowering (numbered alike), transfers, or those that
/// fold.
enum class Kernels : std::uint8_t { packet, staged, transfers, folding };

struct Image {
  Kernels kernels;
  const void* begin;  ///< a fat binary knows its size
};

std::span<const Image> images();

}  // namespace hocket::cuda
