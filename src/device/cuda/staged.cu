// SPDX-License-Identifier: Apache-2.0
#include "device/kernels/staged.h"

#include "device/cuda/entries.cuh"

HOCKET_ENTRIES(staged, StagedSwap)
