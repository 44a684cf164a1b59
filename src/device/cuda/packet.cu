// SPDX-License-Identifier: Apache-2.0
#include "device/kernels/packet.h"

#include "device/cuda/entries.cuh"

HOCKET_ENTRIES(packet, PacketSwap)
