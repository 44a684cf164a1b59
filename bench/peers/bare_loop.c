// SPDX-License-Identifier: Apache-2.0
// The ceiling for two ranks: what an all_reduce over cross-memory attach takes when nothing is
// general. Two pinned processes; each reads its half of the peer's input slice by slice, adds its
// own, and reads the other half of the sum back. They meet three times: before the inputs are
// read, when the halves are summed, and before an output may be touched again. It first prints how
// long one such meeting takes.
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/peers/measure.h"

enum { kSlice = 256 << 10, kSecondsToLive = 600 };

typedef struct {
  _Alignas(128) atomic_ullong meetings;
  _Alignas(128) pid_t process;
  const float* input;
  const float* output;
  double times[kMostIterations];
} Rank;

typedef struct {
  Rank* mine;
  Rank* peer;
  int rank;
  float* slice;
} Loop;

static void meet(const Loop* loop) {
  const unsigned long long meeting =
      atomic_load_explicit(&loop->mine->meetings, memory_order_relaxed) + 1;
  atomic_store_explicit(&loop->mine->meetings, meeting, memory_order_release);
  while (atomic_load_explicit(&loop->peer->meetings, memory_order_acquire) < meeting) continue;
}

static void read_peer(const Loop* loop, const float* from, float* to, size_t count) {
  const size_t bytes = count * sizeof(float);
  const struct iovec local = {to, bytes}, remote = {(void*)from, bytes};
  if (process_vm_readv(loop->peer->process, &local, 1, &remote, 1, 0) != (ssize_t)bytes)
    fail("the kernel does not let one process read the other");
}

static void all_reduce(const Loop* loop, const float* input, float* output, size_t count) {
  const size_t half = count / 2, most = kSlice / sizeof(float);
  const bool is_lower = loop->rank == 0;
  const size_t first = is_lower ? 0 : half, end = is_lower ? half : count;
  const size_t other = is_lower ? half : 0;
  meet(loop);
  for (size_t at = first; at < end; at += most) {
    const size_t length = end - at < most ? end - at : most;
    read_peer(loop, loop->peer->input + at, loop->slice, length);
    for (size_t i = 0; i < length; ++i) output[at + i] = input[at + i] + loop->slice[i];
  }
  meet(loop);
  read_peer(loop, loop->peer->output + other, output + other, count - (end - first));
  meet(loop);
}

static void measure(const Loop* loop, Case c) {
  float* const input = make_input(loop->rank, c.count);
  float* const output = make_input(loop->rank, c.count);
  loop->mine->input = input;
  loop->mine->output = output;
  for (int i = 0; i < kWarmUp; ++i) all_reduce(loop, input, output, c.count);
  check_sum(output, c.count, 2);
  meet(loop);
  for (int i = 0; i < c.iterations; ++i) {
    const double start = now_us();
    all_reduce(loop, input, output, c.count);
    loop->mine->times[i] = now_us() - start;
  }
  meet(loop);
  if (loop->rank == 0) {
    for (int i = 0; i < c.iterations; ++i)
      if (loop->mine->times[i] < loop->peer->times[i]) loop->mine->times[i] = loop->peer->times[i];
    print_case(c, loop->mine->times);
  }
  meet(loop);
  free(output);
  free(input);
}

// The best of several batches, so that other processes do not show. Where it is long, the two cores
// share no cache, and every contestant is slow.
static void print_exchange(const Loop* loop) {
  enum { kBatches = 20, kMeetings = 50 };
  double best_us = 1e9;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double start = now_us();
    for (int i = 0; i < kMeetings; ++i) meet(loop);
    const double time_us = (now_us() - start) / kMeetings;
    if (time_us < best_us) best_us = time_us;
  }
  if (loop->rank == 0) printf("{\"exchange_us\": %.4f}\n", best_us);
}

static void pin(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) fail("cannot pin: two cores are needed");
}

int main(int argc, char** argv) {
  Rank* const ranks =
      mmap(NULL, 2 * sizeof *ranks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (ranks == MAP_FAILED) fail("out of memory");
  const pid_t child = fork();
  if (child < 0) fail("cannot start a process");
  alarm(kSecondsToLive);
  const int rank = child == 0;
  pin(rank);
  const Loop loop = {&ranks[rank], &ranks[!rank], rank, make_input(rank, kSlice / sizeof(float))};
  loop.mine->process = getpid();
  print_exchange(&loop);
  for (int i = 1; i < argc; ++i) measure(&loop, parse_case(argv[i]));
  if (rank == 1) return 0;
  int status = 0;
  return wait(&status) == child && status == 0 ? 0 : 1;
}
