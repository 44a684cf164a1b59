// SPDX-License-Identifier: Apache-2.0
// Calls for streams where there is no GPU: what is refused, by whom and in which words. What they
// do is shown by bench/device_streams, on GPUs.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "api/ranks_suite.h"

namespace hocket::api {
namespace {

bool has_driver() { return ::dlopen("libcuda.so.1", RTLD_LAZY) != nullptr; }

hocket_options on_streams() {
  hocket_options options = patient_options();
  options.cuda = 1;
  return options;
}

TEST(Streams, NeedACommunicatorThatWasMadeForThem) {
  const hocket_id id = new_id();
  run_ranks({}, [&](int) {
    const Comm comm(1, id, 0);
    const std::string without = ": the communicator was created without hocket_options.cuda";
    int value = 0;
    EXPECT_FAILS(
        HOCKET_INVALID_USAGE, "all_reduce" + without,
        hocket_stream_all_reduce(&value, &value, 1, HOCKET_INT32, HOCKET_SUM, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "all_gather" + without,
                 hocket_stream_all_gather(&value, &value, 1, HOCKET_INT32, comm, nullptr));
    EXPECT_FAILS(
        HOCKET_INVALID_USAGE, "reduce_scatter" + without,
        hocket_stream_reduce_scatter(&value, &value, 1, HOCKET_INT32, HOCKET_SUM, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "broadcast" + without,
                 hocket_stream_broadcast(&value, &value, 1, HOCKET_INT32, 0, comm, nullptr));
    EXPECT_FAILS(
        HOCKET_INVALID_USAGE, "reduce" + without,
        hocket_stream_reduce(&value, &value, 1, HOCKET_INT32, HOCKET_SUM, 0, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "alltoall" + without,
                 hocket_stream_alltoall(&value, nullptr, 1, HOCKET_INT32, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "barrier" + without, hocket_stream_barrier(comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "send" + without,
                 hocket_stream_send(&value, 1, HOCKET_INT32, 0, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "recv" + without,
                 hocket_stream_recv(&value, 1, HOCKET_INT32, 0, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "hocket_stream_explain" + without,
                 hocket_stream_explain(comm, HOCKET_ALL_REDUCE, 1, HOCKET_INT32, HOCKET_SUM,
                                       nullptr, 0, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "barrier: the communicator is null",
                 hocket_stream_barrier(nullptr, nullptr));
  });
}

TEST(Streams, ARefusedCallFailsItsGroup) {
  const hocket_id id = new_id();
  run_ranks({}, [&](int) {
    const Comm comm(1, id, 0);
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(hocket_barrier(comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "barrier: ", hocket_stream_barrier(comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "without hocket_options.cuda", hocket_group_end(nullptr));
    EXPECT_OK(hocket_barrier(comm, nullptr));
  });
}

// All ranks hear the same, and from whom; the processes can go on with communicators on the host.
TEST(Streams, WithoutADriverIsSaidOnEveryRank) {
  if (has_driver()) GTEST_SKIP() << "there is a driver";
  const hocket_id id = new_id(), next = new_id();
  run_ranks({.processes = 2, .threads = 2}, [&](int rank) {
    const hocket_options options = on_streams();
    hocket_comm* comm = nullptr;
    EXPECT_FAILS(HOCKET_UNSUPPORTED,
                 "peer 0: unsupported: ops on streams: rank 0: no driver: libcuda.so.1",
                 hocket_comm_create(&comm, 4, &id, rank, &options));
    EXPECT_EQ(comm, nullptr);
    const Comm host(4, next, rank);
    EXPECT_OK(hocket_barrier(host, nullptr));
  });
}

TEST(Streams, RanksMustWantThemAlike) {
  const hocket_id id = new_id();
  run_ranks({.processes = 2}, [&](int rank) {
    hocket_options options = patient_options();
    options.init_timeout_ms = 2000;
    options.cuda = rank;
    hocket_comm* comm = nullptr;
    EXPECT_NE(hocket_comm_create(&comm, 2, &id, rank, &options), HOCKET_SUCCESS);
    EXPECT_NE(std::string(hocket_last_error()).find("the ranks disagree"), std::string::npos)
        << hocket_last_error();
  });
}

TEST(Streams, OptionsOfTheFirstVersionHaveNone) {
  const hocket_id id = new_id();
  run_ranks({}, [&](int) {
    hocket_options options = on_streams();
    options.size = offsetof(hocket_options, cuda);
    const Comm comm(1, id, 0, options);
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "without", hocket_stream_barrier(comm, nullptr));
  });
}

}  // namespace
}  // namespace hocket::api
