/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hocket's own C interface: collectives on host memory, and on CUDA streams.
 *
 * Conventions, the same for every function:
 *
 * Results   Every function that can fail returns a hocket_result; HOCKET_SUCCESS is 0. The text of
 *           this thread's last failure, with rank, op, peer and value, is hocket_last_error(). A
 *           call that fails has done nothing, unless it says otherwise.
 * Counts    Elements, never bytes. Zero elements are legal everywhere: the op takes part in the
 *           order of ops, moves nothing, and pointers may be null.
 * Memory    Host memory of the caller, any alignment. An op reads and writes its buffers from the
 *           call until its request is done. In place means input == output, but for all_gather
 *           input == output + rank * count, for reduce_scatter output == input + rank * count.
 *           alltoall is never in place. Any other overlap of input and output is refused with
 *           HOCKET_INVALID_ARGUMENT.
 * Order     All ranks of a communicator call its collectives in the same order, with matching
 *           count, type, op and root. Ops of one communicator run one after another. Messages of
 *           another size than expected fail with HOCKET_MISMATCH; ranks that disagree in another
 *           way (type of the same size, op, root; 0 elements, which are no message, and some) get
 *           wrong results, as this version does not compare them.
 * Requests  With `request` not null a call returns at once and stores a request there; test or wait
 *           for it, exactly once to its end. With `request` null the call blocks until the op is
 *           done and returns its result. Inside a group `request` must be null: the group has one.
 * Failure   The first failure of an op is final for its communicator, on every rank: all ranks get
 *           the same code and culprit, pending ops end with it, later calls return it. What is left
 *           to do then is hocket_comm_destroy. A call that is refused before it is an op (for an
 *           argument, the moment, or want of memory for one more request) has done nothing.
 * Threads   Any thread may call anything, concurrently too, but not destroy a communicator that
 *           another one uses. Calls on one communicator from several threads are numbered in the
 *           order in which they get its lock.
 * fork      A child of a process that has communicators gets HOCKET_INVALID_USAGE from every call
 *           but the ones that need no communicator; the parent goes on undisturbed.
 */
#ifndef HOCKET_HOCKET_H_
#define HOCKET_HOCKET_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOCKET_MAJOR 0
#define HOCKET_MINOR 1
#define HOCKET_PATCH 0
#define HOCKET_VERSION (HOCKET_MAJOR * 10000 + HOCKET_MINOR * 100 + HOCKET_PATCH)

#if defined(__GNUC__)
#define HOCKET_API __attribute__((visibility("default")))
#else
#define HOCKET_API
#endif

typedef enum {
  HOCKET_SUCCESS = 0,
  HOCKET_INVALID_ARGUMENT = 1, /* can never succeed */
  HOCKET_INVALID_USAGE = 2,    /* legal arguments at the wrong moment */
  HOCKET_MISMATCH = 3,         /* ranks disagree about an op: see Order */
  HOCKET_TIMEOUT = 4,          /* a deadline passed */
  HOCKET_ABORTED = 5,          /* somebody called hocket_comm_abort */
  HOCKET_PEER_LOST = 6,        /* a rank's process, or a link to it, is gone */
  HOCKET_OUT_OF_MEMORY = 7,
  HOCKET_UNSUPPORTED = 8, /* legal, but not on this machine or in this build */
  HOCKET_SYSTEM_ERROR = 9 /* an operating system call failed */
} hocket_result;

typedef enum {
  HOCKET_FLOAT32 = 0,
  HOCKET_FLOAT64 = 1,
  HOCKET_BFLOAT16 = 2,
  HOCKET_FLOAT16 = 3,
  HOCKET_INT32 = 4,
  HOCKET_INT64 = 5,
  HOCKET_UINT8 = 6
} hocket_type;

/* avg of floats divides every operand first, so that sums cannot overflow; avg of integers divides
 * the (wrapping) sum, towards zero. */
typedef enum {
  HOCKET_SUM = 0,
  HOCKET_PROD = 1,
  HOCKET_MIN = 2,
  HOCKET_MAX = 3,
  HOCKET_AVG = 4
} hocket_op;

typedef enum {
  HOCKET_ALL_REDUCE = 0,
  HOCKET_ALL_GATHER = 1,
  HOCKET_REDUCE_SCATTER = 2,
  HOCKET_BROADCAST = 3,
  HOCKET_REDUCE = 4,
  HOCKET_ALLTOALL = 5,
  HOCKET_BARRIER = 6,
  HOCKET_SEND_RECV = 7
} hocket_collective;

/* What the ranks of a communicator share before they meet. Made by one of them, passed to the
 * others by any channel. It holds a secret: who knows it may join. */
typedef struct {
  unsigned char bytes[128];
} hocket_id;

typedef struct hocket_comm hocket_comm;
typedef struct hocket_request hocket_request;

#define HOCKET_NO_TIMEOUT (-1)

/* Options of a communicator. Start from HOCKET_OPTIONS_INIT; zero means the default named here. All
 * ranks must pass the same, but for timeouts. */
typedef struct {
  size_t size;           /* of this struct, as the caller was compiled */
  int init_timeout_ms;   /* for all ranks to arrive; default 60,000 */
  int op_timeout_ms;     /* an op's own deadline; default none */
  int ranks_per_node;    /* plan as if a node ended every so many ranks; default: as it is */
  int channels;          /* most channels of a plan, 1 to 64; default 4 */
  int slice_bytes;       /* largest message; default chosen by the transport */
  const char* algorithm; /* name for every collective that has it ("ring"); default: selected */
  int cuda;              /* 1: for ops on streams too, see there; default: host memory only */
} hocket_options;

#define HOCKET_OPTIONS_INIT {sizeof(hocket_options), 0, 0, 0, 0, 0, NULL, 0}

/* HOCKET_VERSION of the library that is loaded. */
HOCKET_API int hocket_version(void);
/* A name for the code, "timeout"; never null. */
HOCKET_API const char* hocket_result_text(hocket_result result);
/* What this thread's last failing call had to say; empty if none. Valid until its next failure. */
HOCKET_API const char* hocket_last_error(void);

/* A new id, different every time. Fails with HOCKET_SYSTEM_ERROR without a source of randomness. */
HOCKET_API hocket_result hocket_get_id(hocket_id* id);

/* Meets the other world - 1 ranks that pass the same id and makes a communicator; blocks until all
 * are there or the timeout of `options` (may be null) has passed, and then names who is missing.
 * One process may hold several ranks; then their calls come from different threads. */
HOCKET_API hocket_result hocket_comm_create(hocket_comm** comm, int world, const hocket_id* id,
                                            int rank, const hocket_options* options);
/* Waits until the communicator's ops are done, then frees it. Requests end before:
 * HOCKET_INVALID_USAGE while one is neither tested nor waited to its end, or an open group has
 * calls of this communicator. Null is fine. */
HOCKET_API hocket_result hocket_comm_destroy(hocket_comm* comm);
/* Fails the communicator on all ranks and returns at once; pending ops end with HOCKET_ABORTED
 * within a second. It still has to be destroyed. */
HOCKET_API hocket_result hocket_comm_abort(hocket_comm* comm);
HOCKET_API hocket_result hocket_comm_rank(const hocket_comm* comm, int* rank);
HOCKET_API hocket_result hocket_comm_size(const hocket_comm* comm, int* size);
/* The communicator's failure, HOCKET_SUCCESS while there is none; its text becomes
 * hocket_last_error(). Never blocks. */
HOCKET_API hocket_result hocket_comm_async_error(hocket_comm* comm, hocket_result* error);

/* output[i] = op over all ranks' input[i], i < count. All ranks get the same bits. */
HOCKET_API hocket_result hocket_all_reduce(const void* input, void* output, size_t count,
                                           hocket_type type, hocket_op op, hocket_comm* comm,
                                           hocket_request** request);
/* output (count x world) = the inputs (count) of ranks 0, 1, ... in a row. */
HOCKET_API hocket_result hocket_all_gather(const void* input, void* output, size_t count,
                                           hocket_type type, hocket_comm* comm,
                                           hocket_request** request);
/* output (count) = op over all ranks' input[rank * count + i], of inputs (count x world). */
HOCKET_API hocket_result hocket_reduce_scatter(const void* input, void* output, size_t count,
                                               hocket_type type, hocket_op op, hocket_comm* comm,
                                               hocket_request** request);
/* output (count), on every rank, = input of root; input is read at root only. */
HOCKET_API hocket_result hocket_broadcast(const void* input, void* output, size_t count,
                                          hocket_type type, int root, hocket_comm* comm,
                                          hocket_request** request);
/* output (count), at root only, = op over all ranks' input. */
HOCKET_API hocket_result hocket_reduce(const void* input, void* output, size_t count,
                                       hocket_type type, hocket_op op, int root, hocket_comm* comm,
                                       hocket_request** request);
/* Block p of output, of count elements, = block `rank` of rank p's input (count x world each). */
HOCKET_API hocket_result hocket_alltoall(const void* input, void* output, size_t count,
                                         hocket_type type, hocket_comm* comm,
                                         hocket_request** request);
/* Done once all ranks have called it. */
HOCKET_API hocket_result hocket_barrier(hocket_comm* comm, hocket_request** request);
/* The k-th send to a peer meets its k-th receive from this rank; counts and types must match. A
 * send may block until the receive is called: exchanges go into one group. */
HOCKET_API hocket_result hocket_send(const void* input, size_t count, hocket_type type, int peer,
                                     hocket_comm* comm, hocket_request** request);
HOCKET_API hocket_result hocket_recv(void* output, size_t count, hocket_type type, int peer,
                                     hocket_comm* comm, hocket_request** request);

/* Ops on streams, in a communicator whose ranks passed hocket_options.cuda = 1. It works on the
 * device of the CUDA context that was current when hocket_comm_create was called (device 0 if there
 * was none), whose memory all other ranks' devices must reach: one node, at most 16 ranks.
 *
 * Memory    Device memory of that device, as each collective has it above.
 * Streams   `stream` is a CUstream or cudaStream_t of that context, null for its default stream. A
 *           call enqueues all there is to do, returns at once and never waits for a peer; the op
 *           then runs in the order of the stream. Ops of one communicator run one after another,
 *           whatever their streams.
 * Graphs    A stream that is being captured captures the op; the graph may be launched any number
 *           of times, by all ranks equally often. Ops of one communicator in a graph, and ops
 *           outside of it, must not run at the same time: the caller orders them.
 * Order     As on host memory, in an order of its own: ops on streams and ops on host memory of one
 *           communicator are not ordered among each other. Several communicators go on side by side
 *           as far as a device has room, so all ranks enqueue their ops in the same order, too.
 *           Ranks that call different things fail with HOCKET_MISMATCH, before an output is
 *           written if there are two ranks.
 * Algorithm Those that `hocket explain --memory cuda` prices take a launch or two; others that are
 *           named (hocket_options.algorithm, HOCKET_ALGO) a launch a round, slowly.
 * Groups    A call inside a group is enqueued when the outermost group ends. The sends and receives
 *           of a communicator in a group, at most 96, are one op in the place of the first one, on
 *           one stream; a send may wait for its receive, so exchanges go into one group.
 * Failure   An op that fails leaves its output undefined, and its stream goes on: ask
 *           hocket_comm_async_error. A rank's end or hocket_comm_abort ends ops that wait.
 *           hocket_comm_destroy waits for all work in the CUDA context, which these end too.
 */
HOCKET_API hocket_result hocket_stream_all_reduce(const void* input, void* output, size_t count,
                                                  hocket_type type, hocket_op op, hocket_comm* comm,
                                                  void* stream);
HOCKET_API hocket_result hocket_stream_all_gather(const void* input, void* output, size_t count,
                                                  hocket_type type, hocket_comm* comm,
                                                  void* stream);
HOCKET_API hocket_result hocket_stream_reduce_scatter(const void* input, void* output, size_t count,
                                                      hocket_type type, hocket_op op,
                                                      hocket_comm* comm, void* stream);
HOCKET_API hocket_result hocket_stream_broadcast(const void* input, void* output, size_t count,
                                                 hocket_type type, int root, hocket_comm* comm,
                                                 void* stream);
HOCKET_API hocket_result hocket_stream_reduce(const void* input, void* output, size_t count,
                                              hocket_type type, hocket_op op, int root,
                                              hocket_comm* comm, void* stream);
HOCKET_API hocket_result hocket_stream_alltoall(const void* input, void* output, size_t count,
                                                hocket_type type, hocket_comm* comm, void* stream);
HOCKET_API hocket_result hocket_stream_barrier(hocket_comm* comm, void* stream);
HOCKET_API hocket_result hocket_stream_send(const void* input, size_t count, hocket_type type,
                                            int peer, hocket_comm* comm, void* stream);
HOCKET_API hocket_result hocket_stream_recv(void* output, size_t count, hocket_type type, int peer,
                                            hocket_comm* comm, void* stream);
/* As hocket_explain, further below, of an op on a stream: also how its bytes travel. */
HOCKET_API hocket_result hocket_stream_explain(hocket_comm* comm, hocket_collective collective,
                                               size_t count, hocket_type type, hocket_op op,
                                               char* text, size_t size, size_t* needed);

/* Calls of this thread between start and end become one op per communicator: sends and receives of
 * the group run at the same time, whatever their order, and beside its collectives, which keep
 * theirs. None may read what another one of the group writes. Groups nest; the outermost end
 * submits; an empty group is done at once and has no request (null). If a call inside is refused,
 * or submission is, nothing of the group is done and hocket_group_end returns the first failure.
 * Only the part of a communicator that has failed is left out alone, as other ranks may not know of
 * the failure yet: the rest is done, and the failure is the result in the end. */
HOCKET_API hocket_result hocket_group_start(void);
HOCKET_API hocket_result hocket_group_end(hocket_request** request);

/* *done = 1: the request is done, *request is null from then on, and the op's result is returned.
 * *done = 0: not yet; HOCKET_SUCCESS is returned. Never blocks. */
HOCKET_API hocket_result hocket_test(hocket_request** request, int* done);
/* Blocks until the op is done (then *request is null and the op's result is returned) or timeout_ms
 * has passed: then HOCKET_TIMEOUT is returned, the op goes on and *request stays. HOCKET_NO_TIMEOUT
 * waits as long as it takes. */
HOCKET_API hocket_result hocket_wait(hocket_request** request, int timeout_ms);

/* Why this op would be carried out as it would be: every candidate with its price, the winner, the
 * rule that chose it. Writes at most size - 1 bytes of text and a zero; *needed (may be null) is
 * the size for all of it. */
HOCKET_API hocket_result hocket_explain(hocket_comm* comm, hocket_collective collective,
                                        size_t count, hocket_type type, hocket_op op, char* text,
                                        size_t size, size_t* needed);

#ifdef __cplusplus
}
#endif
#endif
