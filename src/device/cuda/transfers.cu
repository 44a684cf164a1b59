// SPDX-License-Identifier: Apache-2.0
// Sends and receives of the user's: a few, and many.
#include "device/cuda/transfers.cuh"

HOCKET_TRANSFERS_ENTRY(transfers, Transfers, Verbatim)
HOCKET_TRANSFERS_ENTRY(few_transfers, FewTransfers, Verbatim)
