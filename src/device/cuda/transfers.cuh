// SPDX-License-Identifier: Apache-2.0
// An entry point for transfers.
#pragma once
#include "device/cuda/thread.cuh"
#include "device/kernels/transfers.h"

// All stripes of 16 ranks on one device, 480 blocks of half as many threads, run at the same time.
#define HOCKET_TRANSFERS_ENTRY(name, List, ...)                                              \
  extern "C" __global__ void __launch_bounds__(hocket::kernels::kTransferThreads, 3)         \
      hocket_##name(const __grid_constant__ hocket::kernels::Domain domain,                  \
                    const __grid_constant__ hocket::world::List transfers,                   \
                    const __grid_constant__ std::uint32_t stripes) {                         \
    hocket::cuda::Thread thread;                                                             \
    hocket::kernels::TransferStripe<hocket::kernels::__VA_ARGS__, hocket::cuda::Thread,      \
                                    hocket::world::List>(thread, domain, transfers, stripes) \
        .run();                                                                              \
  }
