// SPDX-License-Identifier: Apache-2.0
// Two ranks, all their blocks running, lap after lap in one launch: no end of a kernel orders or
// flushes what the claims say needs no more than a flag. Memory is touched through the Thread of
// the real kernels, but for what is broken on purpose. Every wait is as patient as theirs.
#include "device/cuda/litmus.h"

#include "device/cuda/thread.cuh"

namespace hocket::cuda {
namespace {

using kernels::Domain;
using kernels::Packet;
using kernels::Vector;

// Relaxed, for what is broken on purpose.
__device__ void store_word(void* to, std::uint64_t word) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}
__device__ void store_field(std::uint32_t* to, std::uint32_t word) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}

/// The lap can be told from either half; all zero is lap 0, as in a mailbox that is clear.
__device__ Packet packet_of(std::uint32_t lap) {
  return {lap * 0x9E37'79B9'7F4A'7C15ull, lap, lap * 0x9E37'79B9u};
}
__device__ bool is_whole(const Packet& seen) {
  const Packet packet = packet_of(seen.lap);
  return seen.data == packet.data && seen.signature == packet.signature;
}

__device__ Vector vector_of(std::uint32_t lap, std::uint32_t i) {
  return {std::uint64_t{lap} << 32 | 2 * i, std::uint64_t{lap} << 32 | (2 * i + 1)};
}
__device__ void count(Tally& tally, const Vector& seen, const Vector& right) {
  const std::uint64_t lap = right.low >> 32;
  ++tally.seen;
  tally.older += (seen.low >> 32) < lap || (seen.high >> 32) < lap;
  tally.newer += (seen.low >> 32) > lap || (seen.high >> 32) > lap;
  tally.torn += std::uint32_t(seen.low) != std::uint32_t(right.low) ||
                std::uint32_t(seen.high) != std::uint32_t(right.high);
}

__device__ void add(Tally& all, const Tally& mine) {
  atomicAdd(&all.seen, mine.seen);
  atomicAdd(&all.older, mine.older);
  atomicAdd(&all.newer, mine.newer);
  atomicAdd(&all.torn, mine.torn);
}

/// One rank's side of a lap: a Thread lives for a lap, as in a real kernel, and so does its
/// patience.
struct Side {
  const Domain& domain;
  const Litmus& litmus;
  std::uint32_t peer = kernels::hop(domain, 1);
  kernels::Mailbox mine = kernels::mailbox(domain, domain.me);
  kernels::Mailbox theirs = kernels::mailbox(domain, peer);

  /// Whose half the data of `lap` goes to.
  __device__ std::uint32_t half(std::uint32_t lap) const {
    return litmus.way == Way::one_half ? 0 : lap;
  }
  /// Now and then one rank is late to look, so that the other runs ahead as far as it may.
  __device__ void dawdle(std::uint32_t lap) const {
    const std::uint32_t draw = (2 * lap + domain.me) * 0x9E37'79B9u;
    if (draw >> 28 == 0) __nanosleep(draw >> 18 & 1023);
  }
  __device__ void raise(Thread& thread, std::uint32_t lap) const {
    kernels::Flag* const flag = theirs.flags(lap, domain.me) + thread.block();
    if (litmus.way == Way::relaxed_flag) return store_word(flag, std::uint64_t{lap});
    thread.store_flag(flag, {lap, 0});
  }
  __device__ bool await(Thread& thread, std::uint32_t lap) const {
    const kernels::Flag* const flag = mine.flags(lap, peer) + thread.block();
    for (std::uint32_t spins = 1; thread.load_flag(flag).lap != lap; ++spins) {
      if (!thread.patient(spins, domain, peer, lap)) return false;
    }
    return true;
  }
  /// Both ranks have got here.
  __device__ bool meet() const {
    Thread thread;
    const bool first = thread.thread() == 0;
    if (first) raise(thread, 1);
    return thread.sync(!first || await(thread, 1));
  }
};

__device__ void write(const Side& side, Packet* to) {
  const Thread thread;
  for (std::uint32_t lap = 1; lap <= side.litmus.laps; ++lap) {
    const Packet packet = packet_of(lap);
    if (side.litmus.way == Way::two_stores) {
      store_word(&to->data, packet.data);
      store_word(&to->lap, packet.lap | std::uint64_t{packet.signature} << 32);
    } else {
      thread.store_packet(to, packet);
    }
  }
}

__device__ Tally watch(const Side& side, const Packet* from) {
  Tally tally;
  Packet packet;
  while (packet.lap != side.litmus.laps) {
    Thread thread;
    const std::uint32_t before = packet.lap;
    for (std::uint32_t spins = 1;; ++spins) {
      packet = thread.load_packet(from);
      ++tally.seen;
      tally.torn += !is_whole(packet);
      tally.older += packet.lap < before;
      if (packet.lap != before) break;
      if (!thread.patient(spins, side.domain, side.peer, before)) return tally;
    }
  }
  return tally;
}

}  // namespace

// A packet is whole, and one place's laps never go back: every even block stores packets over each
// other as fast as it can, every odd block of the peer looks.
extern "C" __global__ void hocket_litmus_packet(const __grid_constant__ Domain domain,
                                                const __grid_constant__ Litmus litmus) {
  const Side side{domain, litmus};
  if (!side.meet()) return;
  const std::uint32_t slot = blockIdx.x / 2 * blockDim.x + threadIdx.x;
  if (blockIdx.x % 2 == 0) return write(side, side.theirs.packets(0, domain.me) + slot);
  add(*litmus.tally, watch(side, side.mine.packets(0, side.peer) + slot));
}

// Two halves suffice for packets: what comes for a lap is that lap's.
extern "C" __global__ void hocket_litmus_packets(const __grid_constant__ Domain domain,
                                                 const __grid_constant__ Litmus litmus) {
  const Side side{domain, litmus};
  const std::uint32_t slot = blockIdx.x * blockDim.x + threadIdx.x;
  Tally tally;
  for (std::uint32_t lap = 1; lap <= litmus.laps; ++lap) {
    Thread thread;
    const std::uint32_t half = side.half(lap);
    thread.store_packet(side.theirs.packets(half, domain.me) + slot, packet_of(lap));
    side.dawdle(lap);
    const Packet* const from = side.mine.packets(half, side.peer) + slot;
    Packet packet = thread.load_packet(from);
    for (std::uint32_t spins = 1; packet.lap < lap; ++spins) {
      if (!thread.patient(spins, domain, side.peer, lap)) return;
      packet = thread.load_packet(from);
    }
    ++tally.seen;
    tally.newer += packet.lap > lap;
    tally.torn += !is_whole(packet);
  }
  add(*litmus.tally, tally);
}

// Behind a flag all data of its block is there, and stays until this rank raises its next one.
extern "C" __global__ void hocket_litmus_staged(const __grid_constant__ Domain domain,
                                                const __grid_constant__ Litmus litmus) {
  const Side side{domain, litmus};
  const std::uint32_t first = blockIdx.x * kVectors * blockDim.x + threadIdx.x;
  Tally tally;
  for (std::uint32_t lap = 1; lap <= litmus.laps; ++lap) {
    Thread thread;
    const bool signals = thread.thread() == 0;
    const bool is_early = litmus.way == Way::flag_first;
    if (signals && is_early) side.raise(thread, lap);
    std::byte* const to = side.theirs.staging(side.half(lap), domain.me);
    for (std::uint32_t u = 0; u < kVectors; ++u) {
      const std::uint32_t i = first + u * thread.threads();
      thread.store_vector(to + 16 * i, vector_of(lap, i));
    }
    thread.sync();
    if (signals && !is_early) side.raise(thread, lap);
    side.dawdle(lap);
    if (!thread.sync(!signals || side.await(thread, lap))) return;
    const std::byte* const from = side.mine.staging(side.half(lap), side.peer);
    for (std::uint32_t u = 0; u < kVectors; ++u) {
      const std::uint32_t i = first + u * thread.threads();
      count(tally, thread.load_vector(from + 16 * i), vector_of(lap, i));
    }
  }
  add(*litmus.tally, tally);
}

// A report's fields are there when the host sees its code, which here is the lap. One thread.
extern "C" __global__ void hocket_litmus_report(const __grid_constant__ Domain domain,
                                                const __grid_constant__ Litmus litmus) {
  for (std::uint32_t lap = 1; lap <= litmus.laps; ++lap) {
    if (litmus.way == Way::code_first) {
      store_field(&domain.report->code, lap);
      __threadfence_system();
      store_field(&domain.report->peer, lap);
      store_field(&domain.report->lap, lap);
      store_field(&domain.report->seen, lap);
    } else {
      *domain.given_up = 0;  // the first report would stay
      Thread::report(domain, {lap, lap, lap, lap});
    }
  }
}

// Waits for a flag that never comes, until it is told to stop.
extern "C" __global__ void hocket_litmus_stop(const __grid_constant__ Domain domain,
                                              const __grid_constant__ Litmus litmus) {
  Thread thread;
  Side{domain, litmus}.await(thread, 1);
}

}  // namespace hocket::cuda
