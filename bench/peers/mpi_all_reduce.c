// SPDX-License-Identifier: Apache-2.0
// MPI's all_reduce of float32 sums, out of place, between the ranks that mpirun started. Rank 0
// first says how Open MPI's shared memory transport copies large messages: "cma" is once.
#include <mpi.h>
#include <string.h>

#include "bench/peers/measure.h"

static void must(int result) {
  if (result == MPI_SUCCESS) return;
  fprintf(stderr, "MPI error %d\n", result);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Initialisation lowers this variable of the transport when the kernel forbids the mechanism.
static void print_single_copy(void) {
  char text[64] = "unknown", name[] = "btl_vader_single_copy_mechanism";
  int provided, index, verbosity, bind, scope, count, value;
  int unused = 0, length = sizeof text;
  MPI_Datatype type;
  MPI_T_enum mechanisms;
  MPI_T_cvar_handle handle;
  must(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS) {
    must(MPI_T_cvar_get_info(index, NULL, &unused, &verbosity, &type, &mechanisms, NULL, &unused,
                             &bind, &scope));
    must(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    must(MPI_T_cvar_read(handle, &value));
    for (int i = 0, item = -1; item != value; ++i) {
      length = sizeof text;
      must(MPI_T_enum_get_item(mechanisms, i, &item, text, &length));
    }
  }
  printf("{\"single_copy\": \"%s\"}\n", text);
}

static void measure(Case c, int rank, int ranks) {
  float* const input = make_input(rank, c.count);
  float* const output = make_input(rank, c.count);
  double* const times = calloc((size_t)c.iterations, sizeof *times);
  double* const slowest = calloc((size_t)c.iterations, sizeof *slowest);
  if (times == NULL || slowest == NULL) fail("out of memory");
  const int count = (int)c.count;
  for (int i = 0; i < kWarmUp; ++i)
    must(MPI_Allreduce(input, output, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
  check_sum(output, c.count, ranks);
  must(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < c.iterations; ++i) {
    const double start = now_us();
    must(MPI_Allreduce(input, output, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    times[i] = now_us() - start;
  }
  must(MPI_Reduce(times, slowest, c.iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD));
  if (rank == 0) print_case(c, slowest);
  free(slowest);
  free(times);
  free(output);
  free(input);
}

int main(int argc, char** argv) {
  int rank, ranks;
  must(MPI_Init(&argc, &argv));
  must(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  must(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  if (rank == 0) print_single_copy();
  for (int i = 1; i < argc; ++i) measure(parse_case(argv[i]), rank, ranks);
  must(MPI_Finalize());
  return 0;
}
