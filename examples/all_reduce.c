// SPDX-License-Identifier: Apache-2.0
// A whole program: four processes meet by an id that the first one made, and add up an array. Each
// checks what it got. A real job passes the id through its launcher; here fork does.
#define _POSIX_C_SOURCE 200809L
#include <hocket/hocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRanks = 4, kCount = 1000 };

static void must(hocket_result result, int rank, const char* what) {
  if (result == HOCKET_SUCCESS) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, hocket_last_error());
  exit(EXIT_FAILURE);
}

static int run_rank(const hocket_id* id, int rank) {
  float input[kCount], output[kCount];
  hocket_options options = HOCKET_OPTIONS_INIT;
  hocket_comm* comm = NULL;
  hocket_request* request = NULL;
  int wrong = 0;

  options.init_timeout_ms = 10000;
  options.op_timeout_ms = 10000;
  must(hocket_comm_create(&comm, kRanks, id, rank, &options), rank, "create");

  for (int i = 0; i < kCount; ++i) input[i] = (float)(rank * kCount + i);
  must(hocket_all_reduce(input, output, kCount, HOCKET_FLOAT32, HOCKET_SUM, comm, &request), rank,
       "all_reduce");
  // Other work could be done here.
  must(hocket_wait(&request, HOCKET_NO_TIMEOUT), rank, "wait");

  for (int i = 0; i < kCount; ++i)
    wrong += output[i] != (float)(kRanks * i + kCount * kRanks * (kRanks - 1) / 2);
  printf("rank %d of %d: %d wrong\n", rank, kRanks, wrong);
  must(hocket_comm_destroy(comm), rank, "destroy");
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void) {
  hocket_id id;
  int failed = 0;
  must(hocket_get_id(&id), 0, "get_id");
  for (int rank = 1; rank < kRanks; ++rank)
    if (fork() == 0) return run_rank(&id, rank);
  failed += run_rank(&id, 0) != EXIT_SUCCESS;
  for (int rank = 1; rank < kRanks; ++rank) {
    int status = 0;
    wait(&status);
    failed += status != 0;
  }
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
