// SPDX-License-Identifier: Apache-2.0
// The C interface as its users meet it: handles, requests, threads, options, explanations, and what
// each wrong call is told.
#include "hocket/hocket.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "api/ranks_suite.h"
#include "testing/processes.h"
#include "testing/sanitizers.h"

namespace hocket::api {
namespace {

/// The sum of one number of each rank.
int add_up(int value, hocket_comm* comm, hocket_request** request = nullptr) {
  int sum = 0;
  EXPECT_OK(hocket_all_reduce(&value, &sum, 1, HOCKET_INT32, HOCKET_SUM, comm, request));
  return sum;
}

// ---- without a communicator --------------------------------------------------------------------

TEST(Library, TellsItsVersion) {
  EXPECT_EQ(hocket_version(), HOCKET_VERSION);
  EXPECT_EQ(HOCKET_VERSION, HOCKET_MAJOR * 10000 + HOCKET_MINOR * 100 + HOCKET_PATCH);
}

TEST(Library, NamesEveryResult) {
  const char* const names[] = {"success",     "invalid argument", "invalid usage", "mismatch",
                               "timeout",     "aborted",          "peer lost",     "out of memory",
                               "unsupported", "system error"};
  for (int i = 0; i <= HOCKET_SYSTEM_ERROR; ++i)
    EXPECT_STREQ(hocket_result_text(static_cast<hocket_result>(i)), names[i]);
  EXPECT_STREQ(hocket_result_text(static_cast<hocket_result>(10)), "unknown result");
}

TEST(Library, IdsDiffer) {
  const hocket_id a = new_id(), b = new_id();
  EXPECT_NE(std::memcmp(&a, &b, sizeof a), 0);
  EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_get_id: id is null", hocket_get_id(nullptr));
}

TEST(Library, TextsBelongToTheirThread) {
  EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "id is null", hocket_get_id(nullptr));
  std::thread([] { EXPECT_STREQ(hocket_last_error(), ""); }).join();
  hocket_id id;
  EXPECT_OK(hocket_get_id(&id));
  EXPECT_NE(std::string(hocket_last_error()), "");  // success leaves it
}

TEST(Library, NullHandlesAreToldByCall) {
  int number = 0;
  hocket_result result = HOCKET_SUCCESS;
  hocket_request* request = nullptr;
  const std::string comm = "the communicator is null";
  const auto invalid = HOCKET_INVALID_ARGUMENT;
  EXPECT_FAILS(invalid, "hocket_comm_abort: " + comm, hocket_comm_abort(nullptr));
  EXPECT_FAILS(invalid, "hocket_comm_rank: " + comm, hocket_comm_rank(nullptr, &number));
  EXPECT_FAILS(invalid, "hocket_comm_size: " + comm, hocket_comm_size(nullptr, &number));
  EXPECT_FAILS(invalid, "hocket_comm_async_error: " + comm,
               hocket_comm_async_error(nullptr, &result));
  EXPECT_FAILS(invalid, "all_reduce: " + comm,
               hocket_all_reduce(nullptr, nullptr, 0, HOCKET_INT32, HOCKET_SUM, nullptr, nullptr));
  EXPECT_FAILS(invalid, "barrier: " + comm, hocket_barrier(nullptr, &request));
  EXPECT_FAILS(invalid, "send: " + comm,
               hocket_send(nullptr, 0, HOCKET_INT32, 0, nullptr, nullptr));
  EXPECT_FAILS(invalid, "recv: " + comm,
               hocket_recv(nullptr, 0, HOCKET_INT32, 0, nullptr, nullptr));
  EXPECT_FAILS(
      invalid, "hocket_explain: " + comm,
      hocket_explain(nullptr, HOCKET_BARRIER, 0, HOCKET_INT32, HOCKET_SUM, nullptr, 0, nullptr));
  EXPECT_FAILS(invalid, "hocket_test: the request is null", hocket_test(&request, &number));
  EXPECT_FAILS(invalid, "hocket_wait: the request is null", hocket_wait(nullptr, 0));
  EXPECT_OK(hocket_comm_destroy(nullptr));
}

// ---- creating and destroying -------------------------------------------------------------------

/// What create says to these arguments, at once.
void expect_refused(const std::string& text, int world, int rank, hocket_options options) {
  const hocket_id id = new_id();
  hocket_comm* comm = reinterpret_cast<hocket_comm*>(&options);
  EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_comm_create: " + text,
               hocket_comm_create(&comm, world, &id, rank, &options));
  EXPECT_EQ(comm, nullptr);
}

TEST(Create, RefusesWhatCanNeverBe) {
  run_ranks({}, [](int) {
    hocket_comm* comm = nullptr;
    const hocket_id id = new_id();
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_comm_create: comm is null",
                 hocket_comm_create(nullptr, 1, &id, 0, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_comm_create: id is null",
                 hocket_comm_create(&comm, 1, nullptr, 0, nullptr));
    const hocket_options options = HOCKET_OPTIONS_INIT;
    expect_refused("world is 0, not 1 or more", 0, 0, options);
    expect_refused("world is -3, not 1 or more", -3, 0, options);
    expect_refused("rank -1 in a world of 2", 2, -1, options);
    expect_refused("rank 2 in a world of 2", 2, 2, options);
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "a world of 5000 ranks",
                 hocket_comm_create(&comm, 5000, &id, 0, nullptr));
  });
}

TEST(Create, RefusesOptionsOutOfRange) {
  run_ranks({}, [](int) {
    const auto refused = [](const std::string& text, auto change) {
      hocket_options options = HOCKET_OPTIONS_INIT;
      change(options);
      expect_refused(text, 1, 0, options);
    };
    refused("options.init_timeout_ms is -1, not 0 to 2147483647",
            [](hocket_options& o) { o.init_timeout_ms = -1; });
    refused("options.op_timeout_ms is -5, not", [](hocket_options& o) { o.op_timeout_ms = -5; });
    refused("options.ranks_per_node is -2, not", [](hocket_options& o) { o.ranks_per_node = -2; });
    refused("options.channels is 65, not 0 to 64", [](hocket_options& o) { o.channels = 65; });
    refused("options.slice_bytes is 63, not 0 or at least 64",
            [](hocket_options& o) { o.slice_bytes = 63; });
    refused("options.slice_bytes is 2147483647, not 0 to 1073741824",
            [](hocket_options& o) { o.slice_bytes = 2147483647; });
    refused("options.size is 0; start from HOCKET_OPTIONS_INIT",
            [](hocket_options& o) { o.size = 0; });
    refused("options.size is 36; start from", [](hocket_options& o) { o.size = 36; });
    refused("options.size is 99999; start from", [](hocket_options& o) { o.size = 99999; });
  });
}

TEST(Create, TakesOptionsOfALaterVersionIfTheyAreUnset) {
  run_ranks({}, [](int) {
    struct {
      hocket_options known = HOCKET_OPTIONS_INIT;
      int later[4] = {};
    } options;
    options.known.size = sizeof options;
    const hocket_id id = new_id();
    hocket_comm* comm = nullptr;
    EXPECT_OK(hocket_comm_create(&comm, 1, &id, 0, &options.known));
    EXPECT_OK(hocket_comm_destroy(comm));
    options.later[2] = 1;
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "the others are not zero",
                 hocket_comm_create(&comm, 1, &id, 0, &options.known));
  });
}

TEST(Create, NamesTheCandidatesOfAnUnknownAlgorithm) {
  const hocket_id id = new_id();
  run_ranks({.processes = 2}, [&](int rank) {
    hocket_options options = patient_options();
    options.algorithm = "telepathy";
    hocket_comm* comm = nullptr;
    EXPECT_EQ(hocket_comm_create(&comm, 2, &id, rank, &options), HOCKET_INVALID_ARGUMENT);
    const std::string text = hocket_last_error();
    for (const char* part : {"hocket_options.algorithm", "'telepathy'", "ring", "binomial"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  });
}

TEST(Create, RefusesTheEnvironmentsMistakes) {
  run_ranks({.environment = {{"HOCKET_CHANNELS", "many"}}}, [](int) {
    const hocket_id id = new_id();
    hocket_comm* comm = nullptr;
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "HOCKET_CHANNELS is 'many'",
                 hocket_comm_create(&comm, 1, &id, 0, nullptr));
  });
}

TEST(Create, TakesDefaultsFromTheEnvironment) {
  run_ranks({.environment = {{"HOCKET_ALGO", "chain"}, {"HOCKET_INIT_TIMEOUT_MS", "50"}}}, [](int) {
    const hocket_id id = new_id();
    hocket_comm* comm = nullptr;
    EXPECT_OK(hocket_comm_create(&comm, 1, &id, 0, nullptr));
    char text[80];
    EXPECT_OK(hocket_explain(comm, HOCKET_BROADCAST, 9, HOCKET_UINT8, HOCKET_SUM, text, sizeof text,
                             nullptr));
    EXPECT_EQ(std::string(text).substr(0, 24), "chain: rule: HOCKET_ALGO");
    EXPECT_OK(hocket_comm_destroy(comm));
    EXPECT_FAILS(HOCKET_TIMEOUT, "rank 0: peer 1: timeout: 1 of 2 ranks are missing",
                 hocket_comm_create(&comm, 2, &id, 0, nullptr));
  });
}

TEST(Create, RefusesRanksThatDisagree) {
  struct Disagreement {
    const char* what;
    void (*change)(hocket_options&);
  };
  constexpr Disagreement kAll[] = {
      {"slice_bytes", [](hocket_options& o) { o.slice_bytes = 4096; }},
      {"channels", [](hocket_options& o) { o.channels = 2; }},
      {"ranks_per_node", [](hocket_options& o) { o.ranks_per_node = 1; }},
      {"algorithm", [](hocket_options& o) { o.algorithm = "ring"; }}};
  for (const auto& [what, change] : kAll) {
    SCOPED_TRACE(what);
    const hocket_id id = new_id();
    run_ranks({.processes = 3}, [&, alter = change](int rank) {
      hocket_options options = patient_options();
      options.init_timeout_ms = 1000;
      if (rank == 2) alter(options);
      hocket_comm* comm = nullptr;
      const hocket_result result = hocket_comm_create(&comm, 3, &id, rank, &options);
      const std::string text = hocket_last_error();
      EXPECT_EQ(comm, nullptr);
      EXPECT_EQ(result, rank == 2 ? HOCKET_INVALID_ARGUMENT : HOCKET_TIMEOUT);
      EXPECT_NE(text.find("the ranks disagree: rank 2 expects"), std::string::npos) << text;
      if (rank != 2) {
        EXPECT_NE(text.find("peer 2: timeout: 1 of 3 ranks are missing"), std::string::npos)
            << text;
      }
    });
  }
}

TEST(Create, OfADisagreeingWorldNamesTheSizes) {
  const hocket_id id = new_id();
  run_ranks({.processes = 2}, [&](int rank) {
    hocket_options options = patient_options();
    options.init_timeout_ms = 1000;
    hocket_comm* comm = nullptr;
    EXPECT_NE(hocket_comm_create(&comm, rank == 0 ? 2 : 3, &id, rank, &options), HOCKET_SUCCESS);
    if (rank == 1) {
      EXPECT_NE(std::string(hocket_last_error()).find("world of 3"), std::string::npos)
          << hocket_last_error();
    }
  });
}

TEST(Comm, KnowsItsPlace) {
  run_comms({.processes = 2, .threads = 2}, [](int rank, hocket_comm* comm) {
    int number = -1;
    EXPECT_OK(hocket_comm_rank(comm, &number));
    EXPECT_EQ(number, rank);
    EXPECT_OK(hocket_comm_size(comm, &number));
    EXPECT_EQ(number, 4);
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_comm_rank: rank is null",
                 hocket_comm_rank(comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_comm_size: size is null",
                 hocket_comm_size(comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_comm_async_error: error is null",
                 hocket_comm_async_error(comm, nullptr));
    hocket_result error = HOCKET_TIMEOUT;
    EXPECT_OK(hocket_comm_async_error(comm, &error));
    EXPECT_EQ(error, HOCKET_SUCCESS);
    EXPECT_OK(hocket_barrier(comm, nullptr));
  });
}

TEST(Comm, LeavesTheStandardStreamsAlone) {
  const hocket_id id = new_id();
  run_ranks({.processes = 3}, [&](int rank) {
    for (int stream = 0; stream < 3; ++stream) ::close(stream);
    Comm comm(3, id, rank, patient_options());
    for (int i = 0; i < 5; ++i) {
      for (int stream = 0; stream < 3; ++stream)  // a program that prints all the same
        EXPECT_EQ(::write(stream, "\1\2\3\4", 4), -1);
      EXPECT_EQ(add_up(rank, comm), 3);
    }
  });
}

TEST(Comm, IsNotDestroyedWithOpenRequests) {
  run_ranks({}, [](int) {
    const hocket_id id = new_id();
    hocket_comm* comm = nullptr;
    ASSERT_OK(hocket_comm_create(&comm, 1, &id, 0, nullptr));
    hocket_request *a = nullptr, *b = nullptr;
    EXPECT_OK(hocket_barrier(comm, &a));
    EXPECT_OK(hocket_barrier(comm, &b));
    EXPECT_FAILS(HOCKET_INVALID_USAGE,
                 "hocket_comm_destroy: 2 ops are in use: a request was neither",
                 hocket_comm_destroy(comm));
    EXPECT_OK(hocket_wait(&a, HOCKET_NO_TIMEOUT));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "1 op is in use: a request was neither tested nor",
                 hocket_comm_destroy(comm));
    EXPECT_OK(hocket_wait(&b, HOCKET_NO_TIMEOUT));
    EXPECT_OK(hocket_comm_destroy(comm));
  });
}

TEST(Comm, ManyOfOneProcessAreApart) {
  std::vector<hocket_id> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(new_id());
  run_ranks({.processes = 2}, [&](int rank) {
    std::vector<hocket_comm*> comms(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      ASSERT_OK(hocket_comm_create(&comms[i], 2, &ids[i], i % 2 == 0 ? rank : 1 - rank, nullptr));
    std::vector<hocket_request*> requests(comms.size());
    std::vector<int> values(comms.size()), sums(comms.size());
    // Ops of different communicators have no order among them.
    for (std::size_t k = 0; k < comms.size(); ++k) {
      const std::size_t i = rank == 0 ? k : comms.size() - 1 - k;
      values[i] = static_cast<int>(10 * i) + rank;
      EXPECT_OK(hocket_all_reduce(&values[i], &sums[i], 1, HOCKET_INT32, HOCKET_SUM, comms[i],
                                  &requests[i]));
    }
    for (std::size_t i = 0; i < comms.size(); ++i) {
      EXPECT_OK(hocket_wait(&requests[i], HOCKET_NO_TIMEOUT));
      EXPECT_EQ(sums[i], static_cast<int>(20 * i) + 1);
    }
    for (hocket_comm* comm : comms) EXPECT_OK(hocket_comm_destroy(comm));
  });
}

TEST(Comm, OneAfterAnotherUnderOneId) {
  const hocket_id id = new_id();
  run_ranks({.processes = 2}, [&](int rank) {
    for (int i = 0; i < 5; ++i) {
      Comm comm(2, id, rank);
      EXPECT_EQ(add_up(i + rank, comm), 2 * i + 1);
    }
  });
}

// ---- requests ----------------------------------------------------------------------------------

TEST(Requests, EndByTest) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    int value = rank + 1, sum = 0, done = 0;
    hocket_request* request = nullptr;
    EXPECT_OK(hocket_all_reduce(&value, &sum, 1, HOCKET_INT32, HOCKET_SUM, comm, &request));
    ASSERT_NE(request, nullptr);
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_test: done is null",
                 hocket_test(&request, nullptr));
    while (!done) {
      ASSERT_NE(request, nullptr);
      EXPECT_OK(hocket_test(&request, &done));
    }
    EXPECT_EQ(request, nullptr);
    EXPECT_EQ(sum, 3);
  });
}

TEST(Requests, OutliveAWaitThatIsTooShort) {
  testing::Shared<std::atomic<bool>> gave_up;
  run_comms({.processes = 2}, [&](int rank, hocket_comm* comm) {
    host::Clock clock;
    int value = rank + 1, sum = 0;
    // The other rank gives up several times before this one comes.
    while (rank == 1 && !gave_up->load()) std::this_thread::yield();
    hocket_request* request = nullptr;
    EXPECT_OK(hocket_all_reduce(&value, &sum, 1, HOCKET_INT32, HOCKET_SUM, comm, &request));
    if (rank == 0) {
      for (const int ms : {0, 1, 10}) {
        const Instant start = clock.now();
        EXPECT_FAILS(HOCKET_TIMEOUT,
                     "hocket_wait: not done after " + std::to_string(ms) + " ms; the op goes on",
                     hocket_wait(&request, ms));
        EXPECT_GE(clock.now() - start, milliseconds(ms));
        EXPECT_NE(request, nullptr);
      }
      gave_up->store(true);
    }
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_wait: timeout_ms is -2",
                 hocket_wait(&request, -2));
    EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
    EXPECT_EQ(request, nullptr);
    EXPECT_EQ(sum, 3);
  });
}

TEST(Requests, GoOnByThemselves) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << "looks at the output while it is written";
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    std::vector<float> values(300'000, static_cast<float>(rank + 1)), sums(values.size());
    std::atomic<float>* const last = reinterpret_cast<std::atomic<float>*>(&sums.back());
    hocket_request* request = nullptr;
    EXPECT_OK(hocket_all_reduce(values.data(), sums.data(), values.size(), HOCKET_FLOAT32,
                                HOCKET_SUM, comm, &request));
    host::Clock clock;
    EXPECT_TRUE(testing::eventually(clock, seconds(20), [&] { return last->load() == 3; }));
    EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
  });
}

TEST(Requests, AreWaitedForInAnyOrder) {
  run_comms({.threads = 2}, [](int rank, hocket_comm* comm) {
    constexpr int kOps = 40;
    std::array<int, kOps> values, sums;
    std::array<hocket_request*, kOps> requests{};
    for (int i = 0; i < kOps; ++i) {
      const auto at = static_cast<std::size_t>(i);
      values[at] = i * (rank + 1);
      EXPECT_OK(hocket_all_reduce(&values[at], &sums[at], 1, HOCKET_INT32, HOCKET_SUM, comm,
                                  &requests[at]));
    }
    for (int i = kOps - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_OK(hocket_wait(&requests[at], HOCKET_NO_TIMEOUT));
      EXPECT_EQ(sums[at], 3 * i);
    }
  });
}

TEST(Requests, MixWithBlockingCalls) {
  run_comms({.processes = 3}, [](int rank, hocket_comm* comm) {
    for (int i = 0; i < 20; ++i) {
      int value = rank, sum = -1;
      hocket_request* request = nullptr;
      EXPECT_OK(hocket_all_reduce(&value, &sum, 1, HOCKET_INT32, HOCKET_SUM, comm, &request));
      EXPECT_EQ(add_up(10 * rank, comm), 30);
      EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
      EXPECT_EQ(sum, 3);
    }
  });
}

TEST(Requests, TenThousandAtOnce) {
  run_comms({}, [](int, hocket_comm* comm) {
    std::vector<hocket_request*> requests(10'000);
    for (hocket_request*& request : requests) EXPECT_OK(hocket_barrier(comm, &request));
    for (hocket_request*& request : requests) EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
  });
}

TEST(Calls, ThatFailAreNotPartOfTheOrder) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    int values[4] = {};
    hocket_request* request = reinterpret_cast<hocket_request*>(values);
    if (rank == 0) {
      EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "all_gather: input and output overlap",
                   hocket_all_gather(&values[1], values, 1, HOCKET_INT32, comm, &request));
      EXPECT_EQ(request, nullptr);
      EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "broadcast: root 2 in a world of 2",
                   hocket_broadcast(values, &values[1], 1, HOCKET_INT32, 2, comm, nullptr));
      EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "recv: peer -1 in a world of 2",
                   hocket_recv(values, 1, HOCKET_INT32, -1, comm, nullptr));
    }
    EXPECT_EQ(add_up(rank + 1, comm), 3);
  });
}

// An op that asks what the one before it asked for keeps its plan: memory, root and peer must be
// the new call's, and one that averages floats has changed what it asked for.
TEST(Calls, AlikeHaveMemoryOfTheirOwn) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    for (int i = 0; i < 6; ++i) {
      std::vector<float> in(300, static_cast<float>(rank + 2 * i)), out(300);
      EXPECT_OK(hocket_all_reduce(in.data(), out.data(), in.size(), HOCKET_FLOAT32, HOCKET_AVG,
                                  comm, nullptr));
      EXPECT_EQ(out, std::vector<float>(300, static_cast<float>(2 * i) + 0.5f));
      EXPECT_OK(hocket_all_reduce(out.data(), out.data(), out.size(), HOCKET_FLOAT32, HOCKET_AVG,
                                  comm, nullptr));  // in place
      EXPECT_EQ(out, std::vector<float>(300, static_cast<float>(2 * i) + 0.5f));
      for (const int count : {1, 1, 2, 2}) {
        const std::vector<int> mine(static_cast<std::size_t>(count), rank + i);
        std::vector<int> sum(mine.size());
        EXPECT_OK(hocket_all_reduce(mine.data(), sum.data(), mine.size(), HOCKET_INT32, HOCKET_SUM,
                                    comm, nullptr));
        EXPECT_EQ(sum, std::vector<int>(mine.size(), 2 * i + 1));
      }
      for (const int root : {0, 0, 1, 1, 0}) {
        int value = 10 * rank + i;
        EXPECT_OK(hocket_broadcast(&value, &value, 1, HOCKET_INT32, root, comm, nullptr));
        EXPECT_EQ(value, 10 * root + i);
        int got = -1;
        const int other = 1 - rank;
        EXPECT_OK(rank == root ? hocket_send(&value, 1, HOCKET_INT32, other, comm, nullptr)
                               : hocket_recv(&got, 1, HOCKET_INT32, other, comm, nullptr));
        EXPECT_EQ(got, rank == root ? -1 : value);
      }
    }
  });
}

// ---- threads -----------------------------------------------------------------------------------

TEST(Threads, ShareACommunicatorOfOneRank) {
  run_comms({}, [](int, hocket_comm* comm) {
    run_threads(0, 6, [&](int thread) {
      for (int i = 0; i < 300; ++i) EXPECT_EQ(add_up(thread * 1000 + i, comm), thread * 1000 + i);
    });
  });
}

// Each rank's calls are numbered by its lock: any thread's call may meet any other's.
TEST(Threads, OfTwoRanksMeetInTheOrderOfTheLocks) {
  run_comms({.processes = 2}, [](int, hocket_comm* comm) {
    std::atomic<int> total{0};
    run_threads(0, 4, [&](int thread) {
      for (int i = 0; i < 100; ++i) total += add_up(1 << thread, comm);
    });
    // 400 pairs met; every pair added what both put in.
    EXPECT_EQ(add_up(total, comm), 2 * 2 * 100 * (1 + 2 + 4 + 8));
  });
}

TEST(Threads, WorkOnCommunicatorsOfTheirOwn) {
  std::vector<hocket_id> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(new_id());
  run_ranks({.processes = 2}, [&](int rank) {
    run_threads(0, 4, [&](int thread) {
      Comm comm(2, ids[static_cast<std::size_t>(thread)], rank);
      for (int i = 0; i < 200; ++i) EXPECT_EQ(add_up(thread + rank, comm), 2 * thread + 1);
    });
  });
}

TEST(Threads, WaitForOneAnothersRequests) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    for (int i = 0; i < 50; ++i) {
      int value = rank + 1, sum = 0;
      hocket_request* request = nullptr;
      EXPECT_OK(hocket_all_reduce(&value, &sum, 1, HOCKET_INT32, HOCKET_SUM, comm, &request));
      std::thread([&] { EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT)); }).join();
      EXPECT_EQ(sum, 3);
    }
  });
}

// ---- explain -----------------------------------------------------------------------------------

TEST(Explain, BeginsWithTheWinnersName) {
  hocket_options options = patient_options();
  options.algorithm = "halving_doubling";
  run_comms({.threads = 3}, options, [](int, hocket_comm* comm) {
    std::array<char, 4096> text;
    std::size_t needed = 0;
    EXPECT_OK(hocket_explain(comm, HOCKET_ALL_REDUCE, 1000, HOCKET_FLOAT32, HOCKET_SUM, text.data(),
                             text.size(), &needed));
    const std::string whole = text.data();
    EXPECT_EQ(whole.size() + 1, needed);
    EXPECT_EQ(whole.substr(0, 48), "halving_doubling: rule: hocket_options.algorithm");
    for (const char* name : {"  ring: ", "  direct: ", "  one_shot: ", "  halving_doubling: "})
      EXPECT_NE(whole.find(name), std::string::npos) << whole;
    EXPECT_EQ(whole.back(), '\n');
  });
}

TEST(Explain, CutsToWhatFits) {
  run_comms({.threads = 2}, [](int, hocket_comm* comm) {
    std::array<char, 4096> whole, part;
    std::size_t needed = 0, again = 0;
    const auto explain = [&](char* text, std::size_t size, std::size_t* size_needed) {
      return hocket_explain(comm, HOCKET_BROADCAST, 77, HOCKET_INT64, HOCKET_SUM, text, size,
                            size_needed);
    };
    EXPECT_OK(explain(nullptr, 0, &needed));
    ASSERT_LT(needed, whole.size());
    EXPECT_OK(explain(whole.data(), needed, nullptr));
    EXPECT_EQ(std::strlen(whole.data()) + 1, needed);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, needed - 1}) {
      part.fill('x');
      EXPECT_OK(explain(part.data(), size, &again));
      EXPECT_EQ(again, needed);
      EXPECT_EQ(std::string(part.data()), std::string(whole.data()).substr(0, size - 1));
      EXPECT_EQ(part[size], 'x');
    }
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "hocket_explain: text is null",
                 explain(nullptr, 5, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "broadcast: count",
                 hocket_explain(comm, HOCKET_BROADCAST, SIZE_MAX, HOCKET_INT64, HOCKET_SUM, nullptr,
                                0, nullptr));
  });
}

TEST(Explain, KnowsEveryCollective) {
  run_comms({.threads = 2}, [](int, hocket_comm* comm) {
    for (int i = HOCKET_ALL_REDUCE; i <= HOCKET_SEND_RECV; ++i) {
      char text[64] = {};
      EXPECT_OK(hocket_explain(comm, static_cast<hocket_collective>(i), i == HOCKET_BARRIER ? 0 : 9,
                               HOCKET_UINT8, HOCKET_SUM, text, sizeof text, nullptr));
      EXPECT_NE(std::strchr(text, ':'), nullptr);
    }
  });
}

}  // namespace
}  // namespace hocket::api
