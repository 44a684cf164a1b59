// SPDX-License-Identifier: Apache-2.0
// Recordings of any number of ranks as bytes, for a file that another program reads, on another
// machine or years later. In the byte order of the writer, which the header tells:
//
//   header      char magic[8]  u32 byte_order = 0x01020304  u32 version = 1
//               u32 event_bytes = 32  u32 recordings
//   recording   u32 mark  u32 rank  u64 lost  u64 count  Event events[count]  u64 checksum
//
// A checksum covers its recording from the mark on (64-bit FNV-1a): files are cut off and disks
// rot, and a verdict must not rest on that. The reader trusts nothing.
// Threads: values. Failure: decode fails with mismatch, or with unsupported for another version or
// byte order, naming the offset. Cost: 1 ns a byte.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "trace/ring.h"

namespace hocket::trace {

std::vector<std::byte> encode(std::span<const Recording> recordings);
Result<std::vector<Recording>> decode(ConstBytes dump);

}  // namespace hocket::trace
