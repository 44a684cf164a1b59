// SPDX-License-Identifier: Apache-2.0
// How transfers are cut: into stripes, which are blocks of threads, and those into chunks. Both
// ends compute the same. Threads: none; pure functions.
#pragma once
#include <algorithm>

#include "device/kernels/domain.h"
#include "world/transfers.h"

namespace hocket::kernels {

/// With as many stripes for each direction as `blocks` at the same time allow.
constexpr std::uint32_t stripes_of(std::uint32_t world, std::uint32_t blocks) {
  if (world == 1) return kMostStripes;
  const std::uint32_t stripes = blocks / (2 * (world - 1));
  return stripes < 1 ? 1 : stripes < kMostStripes ? stripes : kMostStripes;
}

/// How a transfer is cut; the same at both ends.
struct Cut {
  static constexpr std::uint64_t kMostPackedBytes = 64u << 10;
  // Bytes that are worth a stripe.
  static constexpr std::uint64_t kPackedShare = 2u << 10, kStagedShare = 8u << 10;
  // So many chunks of a staged stripe, of so many bytes at least.
  static constexpr std::uint64_t kChunks = 4, kLeastChunk = 8u << 10;

  bool is_packed = true;
  std::uint32_t stripes = 1;
  std::uint64_t share = 0;  ///< bytes of a stripe; of the last one what is left
  std::uint64_t chunk = 0;  ///< bytes

  HOCKET_DEVICE constexpr Cut(std::uint64_t bytes, const Capacity& capacity) {
    const std::uint64_t packed = capacity.letters / capacity.stripes * sizeof(std::uint64_t);
    const std::uint64_t staged = staged_chunk(capacity);
    is_packed =
        staged == 0 || (bytes <= kMostPackedBytes && bytes <= 2 * packed * capacity.stripes);
    chunk = is_packed ? packed : staged;
    const std::uint64_t worth = is_packed ? kPackedShare : kStagedShare;
    const std::uint64_t wanted = (bytes + worth - 1) / worth;
    const std::uint64_t most = wanted < 1                  ? 1
                               : wanted < capacity.stripes ? wanted
                                                           : capacity.stripes;
    share = ((bytes + most - 1) / most + 15) / 16 * 16;
    if (share > 0) stripes = static_cast<std::uint32_t>((bytes + share - 1) / share);
    // Small enough that one chunk is pushed while another one is pulled.
    const std::uint64_t some = (share / kChunks / kLeastChunk + 1) * kLeastChunk;
    if (!is_packed && some < chunk) chunk = some;
  }

  HOCKET_DEVICE static constexpr std::uint64_t staged_chunk(const Capacity& capacity) {
    return capacity.staged / (2 * capacity.stripes) / 128 * 128;
  }
};

inline constexpr std::uint32_t kTransferThreads = 256;  ///< of a stripe, at most

/// Of a block. Those with one stripe for each direction are many on a device (stripes_of()).
constexpr std::uint32_t transfer_threads(const Capacity& capacity) {
  return capacity.stripes > 1 ? kTransferThreads : kTransferThreads / 2;
}

/// Of a launch: those of its longest transfer.
inline std::uint32_t stripes_of(const world::Transfers& transfers, const Capacity& capacity) {
  std::uint32_t stripes = 1;
  for (std::uint32_t i = 0; i < transfers.size(); ++i)
    stripes = std::max(stripes, Cut(transfers.all[i].bytes, capacity).stripes);
  return stripes;
}

}  // namespace hocket::kernels
