// SPDX-License-Identifier: Apache-2.0
// What the peers written in C measure alike, so that a row of one compares with a row of another
// and with `hocket bench`: buffers whose pages were touched, kWarmUp calls, then every rank times
// each of its calls by the monotonic clock, without a barrier between; a size's figure is the
// median over the calls of the slowest rank's time. Each program takes cases BYTES:ITERATIONS and
// prints one JSON object a line for each. Failure: a message to stderr and exit status 1.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kWarmUp = 2, kMostIterations = 1000000, kPage = 4096 };

typedef struct {
  size_t bytes, count;  // count: of floats
  int iterations;
} Case;

static inline void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static inline Case parse_case(const char* text) {
  Case parsed = {0};
  const bool is_whole = sscanf(text, "%zu:%d", &parsed.bytes, &parsed.iterations) == 2;
  parsed.count = parsed.bytes / sizeof(float);
  if (!is_whole || parsed.count == 0 || parsed.iterations < 1 ||
      parsed.iterations > kMostIterations)
    fail("a case is BYTES:ITERATIONS");
  return parsed;
}

static inline double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

// Element i of rank r's input is r + 1 + i % 5: sums of a few ranks are exact.
static inline float element(int rank, size_t i) { return (float)(rank + 1) + (float)(i % 5); }

static inline float* make_input(int rank, size_t count) {
  float* const buffer = aligned_alloc(kPage, (count * sizeof(float) + kPage - 1) / kPage * kPage);
  if (buffer == NULL) fail("out of memory");
  for (size_t i = 0; i < count; ++i) buffer[i] = element(rank, i);
  return buffer;
}

static inline void check_sum(const float* output, size_t count, int ranks) {
  for (size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int r = 0; r < ranks; ++r) sum += element(r, i);
    if (output[i] != sum) fail("a wrong sum");
  }
}

static inline int compare_times(const void* a, const void* b) {
  const double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

// `times`: of the slowest rank, by iteration; sorts them.
static inline void print_case(Case c, double* times) {
  qsort(times, (size_t)c.iterations, sizeof *times, compare_times);
  printf("{\"bytes\": %zu, \"time_us\": %.4f}\n", c.bytes, times[c.iterations / 2]);
  fflush(stdout);
}
