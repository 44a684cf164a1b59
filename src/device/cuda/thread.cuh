// SPDX-License-Identifier: Apache-2.0
// The Thread of a GPU (device/kernels/kernel.h).
//
// Packets are .b128 accesses, which are single-copy atomic; vectors of smaller words would not be.
// They carry no order and clobber nothing, so that the compiler may move the user's loads ahead of
// a wait. Peers' memory is reached by system scope.
//
// A waiting thread looks for reasons to give up at its 64th, 128th, 256th ... spin and then at
// every 2,048th: a peer that is a little late costs no look, a stream full of kernels whose
// communicator is broken drains at some 30 us each, and thousands of threads do not fill PCIe.
#pragma once
#include "device/kernels/domain.h"

namespace hocket::cuda {

class Thread {
 public:
  __device__ std::uint32_t block() const { return blockIdx.x; }
  __device__ std::uint32_t blocks() const { return gridDim.x; }
  __device__ std::uint32_t thread() const { return threadIdx.x; }
  __device__ std::uint32_t threads() const { return blockDim.x; }
  __device__ void sync() { __syncthreads(); }
  __device__ bool sync(bool good) { return __syncthreads_and(good) != 0; }

  __device__ std::uint64_t load_word(const std::byte* from) const {
    return *reinterpret_cast<const std::uint64_t*>(from);
  }
  __device__ void store_word(std::byte* to, std::uint64_t word) const {
    *reinterpret_cast<std::uint64_t*>(to) = word;
  }

  __device__ kernels::Vector load_vector(const std::byte* from) const {
    const ulonglong2 vector = *reinterpret_cast<const ulonglong2*>(from);
    return {vector.x, vector.y};
  }
  __device__ void store_vector(std::byte* to, const kernels::Vector& vector) const {
    *reinterpret_cast<ulonglong2*>(to) = make_ulonglong2(vector.low, vector.high);
  }

  // Rare, so out of the way.
  __device__ __noinline__ static std::uint64_t load(const std::byte* from, std::uint32_t bytes) {
    switch (unit(from, bytes)) {
      case 4:
        return load_units<std::uint32_t>(from, bytes);
      case 2:
        return load_units<std::uint16_t>(from, bytes);
      default:
        return load_units<std::uint8_t>(from, bytes);
    }
  }
  __device__ __noinline__ static void store(std::byte* to, std::uint64_t word,
                                            std::uint32_t bytes) {
    switch (unit(to, bytes)) {
      case 4:
        return store_units<std::uint32_t>(to, word, bytes);
      case 2:
        return store_units<std::uint16_t>(to, word, bytes);
      default:
        return store_units<std::uint8_t>(to, word, bytes);
    }
  }

  __device__ kernels::Packet load_packet(const kernels::Packet* from) const {
    std::uint64_t data, tag;
    asm volatile("{.reg .b128 p; ld.relaxed.sys.global.b128 p, [%2]; mov.b128 {%0, %1}, p;}"
                 : "=l"(data), "=l"(tag)
                 : "l"(from));
    return {data, static_cast<std::uint32_t>(tag), static_cast<std::uint32_t>(tag >> 32)};
  }

  __device__ void store_packet(kernels::Packet* to, const kernels::Packet& packet) const {
    const std::uint64_t tag = packet.lap | std::uint64_t{packet.signature} << 32;
    asm volatile(
        "{.reg .b128 p; mov.b128 p, {%1, %2}; st.relaxed.sys.global.b128 [%0], p;}" ::"l"(to),
        "l"(packet.data), "l"(tag));
  }

  __device__ kernels::Flag load_flag(const kernels::Flag* from) const {
    std::uint64_t flag;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(flag) : "l"(from) : "memory");
    kernels::Flag result;
    result.lap = static_cast<std::uint32_t>(flag);
    result.signature = static_cast<std::uint32_t>(flag >> 32);
    return result;
  }
  __device__ void store_flag(kernels::Flag* to, const kernels::Flag& flag) const {
    const std::uint64_t word = flag.lap | std::uint64_t{flag.signature} << 32;
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
  }

  // Volatile, so that it stays behind the loads that it stands behind.
  __device__ std::uint32_t load_lap(const std::uint32_t* from) const {
    std::uint32_t lap;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(lap) : "l"(from));
    return lap;
  }
  __device__ void store_lap(std::uint32_t* to, std::uint32_t lap) const { *to = lap; }

  __device__ bool patient(std::uint32_t spins, const kernels::Domain& domain, std::uint32_t from,
                          std::uint32_t lap) {
    const bool is_power = spins >= 64 && (spins & (spins - 1)) == 0;
    if (!is_power && spins % 2048 != 0) return true;
    deadline_ = look(domain, from, lap, deadline_);
    return deadline_ != kGivenUp;
  }

  __device__ static bool seldom(std::uint32_t spins) { return spins % 64 == 0; }

  __device__ static void report(const kernels::Domain& domain, const kernels::Report& why) {
    report(domain, why.peer, why.lap | std::uint64_t{why.seen} << 32, why.code);
  }

 private:
  static constexpr std::uint64_t kUnknown = 0, kGivenUp = 1;

  // What is rare is out of the way, and takes and returns values: neither a Thread nor a Report is
  // ever in memory.

  /// The deadline of this wait, or kGivenUp.
  __device__ __noinline__ static std::uint64_t look(const kernels::Domain& domain,
                                                    std::uint32_t from, std::uint32_t lap,
                                                    std::uint64_t deadline) {
    if (load_word(domain.given_up) != 0) return kGivenUp;
    const std::uint64_t now = nanoseconds();
    if (deadline == kUnknown) deadline = domain.patience_ns ? now + domain.patience_ns : ~0ull;
    std::uint32_t code = now < deadline ? kernels::Report::none : kernels::Report::late;
    if (load_word(domain.stop) != 0) code = kernels::Report::aborted;
    if (code == kernels::Report::none) return deadline;
    report(domain, from, lap, code);
    return kGivenUp;
  }

  __device__ __noinline__ static void report(const kernels::Domain& domain, std::uint32_t peer,
                                             std::uint64_t lap_and_seen, std::uint32_t code) {
    if (atomicExch(domain.given_up, 1u) != 0) return;
    kernels::Report* const report = domain.report;
    report->peer = peer;
    report->lap = static_cast<std::uint32_t>(lap_and_seen);
    report->seen = static_cast<std::uint32_t>(lap_and_seen >> 32);
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&report->code), "r"(code) : "memory");
  }

  __device__ static std::uint32_t load_word(const std::uint32_t* from) {
    std::uint32_t word;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(word) : "l"(from));
    return word;
  }

  __device__ static std::uint64_t nanoseconds() {
    std::uint64_t time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
  }

  /// The largest access that fits place and size.
  __device__ static std::uint32_t unit(const std::byte* at, std::uint32_t bytes) {
    const std::uint32_t bits = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(at));
    return (bits | bytes) % 4 == 0 ? 4 : (bits | bytes) % 2 == 0 ? 2 : 1;
  }

  template <class Unit>
  __device__ static std::uint64_t load_units(const std::byte* from, std::uint32_t bytes) {
    std::uint64_t word = 0;
#pragma unroll 1
    for (std::uint32_t i = 0; i < bytes; i += sizeof(Unit)) {
      word |= std::uint64_t{*reinterpret_cast<const Unit*>(from + i)} << 8 * i;
    }
    return word;
  }

  template <class Unit>
  __device__ static void store_units(std::byte* to, std::uint64_t word, std::uint32_t bytes) {
#pragma unroll 1
    for (std::uint32_t i = 0; i < bytes; i += sizeof(Unit)) {
      *reinterpret_cast<Unit*>(to + i) = static_cast<Unit>(word >> 8 * i);
    }
  }

  std::uint64_t deadline_ = kUnknown;
};

}  // namespace hocket::cuda
