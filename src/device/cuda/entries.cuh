// SPDX-License-Identifier: Apache-2.0
// The entry points of a lowering: one for swaps that store, one for each type and reduction. Their
// names are found by device/cuda/module.h.
//
//   HOCKET_ENTRIES(packet, PacketSwap)
#pragma once
#include "device/cuda/thread.cuh"
#include "device/kernels/element.h"

#define HOCKET_ENTRY(name, Swap, ...)                                                         \
  extern "C" __global__ void __launch_bounds__(hocket::kernels::kMostThreads, 1)              \
      hocket_##name(const __grid_constant__ hocket::kernels::Domain domain,                   \
                    const __grid_constant__ hocket::world::Action action) {                   \
    hocket::cuda::Thread thread;                                                              \
    hocket::kernels::Swap<hocket::kernels::__VA_ARGS__, hocket::cuda::Thread>(thread, domain, \
                                                                              action)         \
        .run();                                                                               \
  }
#define HOCKET_FOLD_ENTRY(lowering, Swap, type, op) \
  HOCKET_ENTRY(lowering##_##type##_##op, Swap,      \
               Element<hocket::DataType::type, hocket::ReduceOp::op>)
#define HOCKET_TYPE_ENTRIES(lowering, Swap, type) \
  HOCKET_FOLD_ENTRY(lowering, Swap, type, sum)    \
  HOCKET_FOLD_ENTRY(lowering, Swap, type, prod)   \
  HOCKET_FOLD_ENTRY(lowering, Swap, type, min)    \
  HOCKET_FOLD_ENTRY(lowering, Swap, type, max)    \
  HOCKET_FOLD_ENTRY(lowering, Swap, type, avg)
#define HOCKET_ENTRIES(lowering, Swap)           \
  HOCKET_ENTRY(lowering##_store, Swap, Verbatim) \
  HOCKET_TYPE_ENTRIES(lowering, Swap, float32)   \
  HOCKET_TYPE_ENTRIES(lowering, Swap, float64)   \
  HOCKET_TYPE_ENTRIES(lowering, Swap, bfloat16)  \
  HOCKET_TYPE_ENTRIES(lowering, Swap, float16)   \
  HOCKET_TYPE_ENTRIES(lowering, Swap, int32)     \
  HOCKET_TYPE_ENTRIES(lowering, Swap, int64)     \
  HOCKET_TYPE_ENTRIES(lowering, Swap, uint8)
