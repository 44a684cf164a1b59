// SPDX-License-Identifier: Apache-2.0
// What the litmus kernels (litmus.cu) and the program that runs them (litmus_bench.cc) share. Each
// of docs/MEMORY_MODEL.md's claims has a kernel that two ranks run against each other and count
// what may not be seen, and a broken way to run it that leaves out what the claim rests on.
//
// Threads, ownership: values.
#pragma once
#include <cstdint>

namespace hocket::cuda {

enum class Way : std::uint32_t {
  right,         ///< as the real kernels do it
  two_stores,    ///< a packet as two words
  one_half,      ///< data of all laps in one half of the mailbox
  flag_first,    ///< before the data
  relaxed_flag,  ///< stored without release
  code_first,    ///< a report's, before its fields
};

/// What a rank saw; device memory.
struct Tally {
  unsigned long long seen = 0;   ///< packets, vectors or reports
  unsigned long long older = 0;  ///< of those: of an earlier lap than must be there
  unsigned long long newer = 0;  ///< of a later lap
  unsigned long long torn = 0;   ///< of no lap
};

struct Litmus {
  Way way = Way::right;
  std::uint32_t laps = 0;  ///< of each block
  Tally* tally = nullptr;
};

inline constexpr std::uint32_t kVectors = 4;  ///< of each thread in a staged lap

}  // namespace hocket::cuda
