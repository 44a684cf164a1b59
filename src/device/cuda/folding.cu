// SPDX-License-Identifier: Apache-2.0
// Rounds of plans that add: one kernel for each type and reduction.
#include "device/cuda/transfers.cuh"

#define HOCKET_FOLDING_ENTRY(type, op)                        \
  HOCKET_TRANSFERS_ENTRY(folding_##type##_##op, FewTransfers, \
                         Element<hocket::DataType::type, hocket::ReduceOp::op>)
#define HOCKET_FOLDING_ENTRIES(type) \
  HOCKET_FOLDING_ENTRY(type, sum)    \
  HOCKET_FOLDING_ENTRY(type, prod)   \
  HOCKET_FOLDING_ENTRY(type, min)    \
  HOCKET_FOLDING_ENTRY(type, max)    \
  HOCKET_FOLDING_ENTRY(type, avg)

HOCKET_FOLDING_ENTRIES(float32)
HOCKET_FOLDING_ENTRIES(float64)
HOCKET_FOLDING_ENTRIES(bfloat16)
HOCKET_FOLDING_ENTRIES(float16)
HOCKET_FOLDING_ENTRIES(int32)
HOCKET_FOLDING_ENTRIES(int64)
HOCKET_FOLDING_ENTRIES(uint8)
