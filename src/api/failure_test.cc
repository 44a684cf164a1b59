// SPDX-License-Identifier: Apache-2.0
// What is left of the others when a rank is killed, stopped, late, absent, gone early, of another
// opinion, or forked: an error that names it, in time, on every rank; and nothing left behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "api/ranks_suite.h"
#include "testing/sanitizers.h"

namespace hocket::api {
namespace {

constexpr Duration kLost = seconds(2), kAborted = seconds(1);

hocket_result barrier(hocket_comm* comm) { return hocket_barrier(comm, nullptr); }

int add_up(int value, hocket_comm* comm) {
  int sum = 0;
  EXPECT_OK(hocket_all_reduce(&value, &sum, 1, HOCKET_INT32, HOCKET_SUM, comm, nullptr));
  return sum;
}

hocket_options no_timeout() {
  hocket_options options = patient_options();
  options.op_timeout_ms = 0;
  return options;
}

/// A test that acts on its ranks, which are processes.
class FailureTest : public ::testing::Test {
 public:
  struct Board {
    std::atomic<int> ready;        ///< ranks that have come so far
    std::atomic<bool> go;          ///< said by the test or a rank
    std::atomic<std::int64_t> at;  ///< when it happened
  };

 protected:
  template <class Body>
  void start(int world, Body body) {
    for (int rank = 0; rank < world; ++rank) ranks_.start([&, rank] { body(rank); });
  }
  /// The same with a communicator, which is destroyed in the end.
  template <class Body>
  void start_comms(int world, const hocket_options& options, Body body) {
    const hocket_id id = new_id();
    start(world, [&, id](int rank) {
      Comm comm(world, id, rank, options);
      body(rank, static_cast<hocket_comm*>(comm));
    });
  }
  void come() { ++board_->ready; }
  template <class Condition>
  void await(Condition condition) {
    ASSERT_TRUE(testing::eventually(clock_, kPatience, condition));
  }
  void await_ready(int count) {
    await([&] { return board_->ready >= count; });
  }
  void await_go() {
    await([this] { return board_->go.load(); });
  }
  void pass(Duration time) {
    const Instant until = clock_.now() + time;
    await([&] { return clock_.now() >= until; });
  }
  /// From now on the clock runs.
  void happens() { board_->at = clock_.now().ns; }
  void expect_within(Duration most) {
    const Duration taken{clock_.now().ns - board_->at.load()};
    EXPECT_LE(taken, most) << static_cast<double>(taken.ns) / 1e9 << " s";
  }
  void kill(int rank) {
    happens();
    ranks_.send(rank, SIGKILL);
  }
  /// All but those killed ended well.
  void expect_ends(const std::vector<int>& killed = {}) {
    const std::vector<testing::End> ends = ranks_.join_all(kPatience);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const bool is_killed = std::count(killed.begin(), killed.end(), static_cast<int>(i)) > 0;
      EXPECT_EQ(ends[i].code, is_killed ? -SIGKILL : 0) << "rank " << i << ": " << ends[i].text;
      EXPECT_FALSE(ends[i].overdue) << "rank " << i << " hangs: " << ends[i].text;
    }
  }

  host::Clock clock_;
  testing::Shared<Board> board_;
  testing::Processes ranks_{clock_};
};

// ---- killed ------------------------------------------------------------------------------------

TEST_F(FailureTest, ARankKilledInTheMiddleOfAnOp) {
  start_comms(4, no_timeout(), [this](int rank, hocket_comm* comm) {
    std::vector<float> values(1 << 18, 1), sums(values.size());
    hocket_result result = HOCKET_SUCCESS;
    for (int i = 0; result == HOCKET_SUCCESS; ++i) {
      if (i == 3) come();
      result = hocket_all_reduce(values.data(), sums.data(), values.size(), HOCKET_FLOAT32,
                                 HOCKET_SUM, comm, nullptr);
    }
    expect_within(kLost);
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 2: peer lost", result);
    EXPECT_NE(rank, 2);
  });
  await_ready(4);
  kill(2);
  expect_ends({2});
}

TEST_F(FailureTest, ARankKilledBeforeItCalls) {
  start_comms(5, no_timeout(), [this](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    come();
    if (rank == 3) return pass(kPatience);
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 3: peer lost", barrier(comm));
    expect_within(kLost);
    // The same from then on, whatever is called.
    hocket_result error = HOCKET_SUCCESS;
    EXPECT_OK(hocket_comm_async_error(comm, &error));
    EXPECT_EQ(error, HOCKET_PEER_LOST);
    EXPECT_NE(std::string(hocket_last_error()).find("peer 3: peer lost"), std::string::npos);
    hocket_request* request = nullptr;
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 3: peer lost", hocket_barrier(comm, &request));
    EXPECT_EQ(request, nullptr);
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 3: peer lost",
                 hocket_send(&rank, 1, HOCKET_INT32, 0, comm, nullptr));
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(barrier(comm));
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 3: peer lost", hocket_group_end(&request));
    EXPECT_OK(hocket_comm_abort(comm));
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 3: peer lost", barrier(comm));
  });
  await_ready(5);
  kill(3);
  expect_ends({3});
}

TEST_F(FailureTest, ARankKilledWhileAllAreIdle) {
  start_comms(3, no_timeout(), [this](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    come();
    await_go();
    if (rank == 1) {  // by asking
      hocket_result error = HOCKET_SUCCESS;
      await([&] {
        EXPECT_OK(hocket_comm_async_error(comm, &error));
        return error != HOCKET_SUCCESS;
      });
      expect_within(kLost);
      EXPECT_EQ(error, HOCKET_PEER_LOST);
    }
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 0: peer lost", barrier(comm));
  });
  await_ready(3);
  kill(0);
  board_->go = true;
  expect_ends({0});
}

TEST_F(FailureTest, ARankKilledWhileAllAreIdleIsToldToWhoAsksNowAndThen) {
  start_comms(5, no_timeout(), [this](int, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    hocket_result error = HOCKET_SUCCESS;
    for (int i = 0; i < 3000; ++i) EXPECT_OK(hocket_comm_async_error(comm, &error));
    come();
    await_go();
    int asked = 0;
    while (error == HOCKET_SUCCESS && asked < 10) {
      pass(milliseconds(100));  // the progress thread may be at it in just that moment, once
      EXPECT_OK(hocket_comm_async_error(comm, &error));
      ++asked;
    }
    EXPECT_LE(asked, 2);
    EXPECT_EQ(error, HOCKET_PEER_LOST);
    const std::string text = hocket_last_error();
    EXPECT_NE(text.find("peer 4: peer lost: "), std::string::npos) << text;
  });
  await_ready(5);
  kill(4);
  board_->go = true;
  expect_ends({4});
}

TEST_F(FailureTest, EveryPendingRequestEndsWithTheLoss) {
  start_comms(3, no_timeout(), [this](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    come();
    if (rank == 2) return pass(kPatience);
    std::array<hocket_request*, 20> requests{};
    for (hocket_request*& request : requests) EXPECT_OK(hocket_barrier(comm, &request));
    come();
    for (hocket_request*& request : requests) {
      EXPECT_FAILS(HOCKET_PEER_LOST, "peer 2: peer lost", hocket_wait(&request, HOCKET_NO_TIMEOUT));
      EXPECT_EQ(request, nullptr);
    }
    expect_within(kLost);
  });
  await_ready(5);
  kill(2);
  expect_ends({2});
}

TEST_F(FailureTest, AProcessOfSeveralRanksKilled) {
  const hocket_id id = new_id();
  start(3, [&](int process) {
    run_threads(2 * process, 2, [&](int rank) {
      Comm comm(6, id, rank, no_timeout());
      hocket_result result = HOCKET_SUCCESS;
      for (int i = 0; result == HOCKET_SUCCESS; ++i) {
        if (i == 3) come();
        result = barrier(comm);
      }
      expect_within(kLost);
      EXPECT_EQ(result, HOCKET_PEER_LOST);
      const std::string text = hocket_last_error();
      EXPECT_TRUE(text.find("peer 2: peer lost") != text.npos ||
                  text.find("peer 3: peer lost") != text.npos)
          << text;
    });
  });
  await_ready(6);
  kill(1);
  expect_ends({1});
}

TEST_F(FailureTest, AProcessThatExitsWithoutAWord) {
  start_comms(3, no_timeout(), [this](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    come();
    await_ready(3);  // a barrier that is done here may still be on its way there
    happens();
    if (rank == 1) std::exit(0);  // with a communicator; its threads and memory are no matter
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 1: peer lost", barrier(comm));
    expect_within(kLost);
  });
  expect_ends();
}

TEST_F(FailureTest, OtherCommunicatorsGoOn) {
  const hocket_id all = new_id(), two = new_id();
  start(3, [&](int rank) {
    Comm comm(3, all, rank, no_timeout());
    EXPECT_OK(barrier(comm));
    if (rank == 2) {
      come();
      return pass(kPatience);
    }
    Comm other(2, two, rank);
    come();
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 2", barrier(comm));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(add_up(rank + i, other), 2 * i + 1);
  });
  await_ready(3);
  kill(2);
  expect_ends({2});
}

// ---- late, absent, gone ------------------------------------------------------------------------

TEST_F(FailureTest, ARankThatNeverCallsIsNamedByTheDeadline) {
  hocket_options options = patient_options();
  options.op_timeout_ms = 300;
  start_comms(4, options, [this](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    happens();
    if (rank == 1) {
      await_ready(3);
      EXPECT_FAILS(HOCKET_TIMEOUT, "peer 1: timeout: reported by rank", barrier(comm));
      return;
    }
    EXPECT_FAILS(HOCKET_TIMEOUT, "peer 1: timeout: ", barrier(comm));
    const std::string text = hocket_last_error();  // whoever was first says more
    EXPECT_TRUE(text.find("300 ms after its start: rank 1 did not enter it") != text.npos ||
                text.find("reported by rank") != text.npos)
        << text;
    expect_within(milliseconds(1300));
    come();
  });
  expect_ends();
}

TEST_F(FailureTest, MessagesBeforeDoNotMoveTheBlame) {
  hocket_options options = patient_options();
  options.op_timeout_ms = 300;
  start_comms(4, options, [this](int rank, hocket_comm* comm) {
    int value = rank;
    for (int i = 0; i < 7 && rank < 2; ++i)
      EXPECT_OK(rank == 0 ? hocket_send(&value, 1, HOCKET_INT32, 1, comm, nullptr)
                          : hocket_recv(&value, 1, HOCKET_INT32, 0, comm, nullptr));
    if (rank == 3) return await_ready(3);
    EXPECT_FAILS(HOCKET_TIMEOUT, "peer 3: timeout: ", barrier(comm));
    come();
  });
  expect_ends();
}

TEST_F(FailureTest, ADeadlineOfMessagesNamesWhoIsAwaited) {
  hocket_options options = patient_options();
  options.op_timeout_ms = 200;
  start_comms(3, options, [this](int rank, hocket_comm* comm) {
    int value = 0;
    if (rank == 0) {
      EXPECT_FAILS(HOCKET_TIMEOUT, "200 ms after its start: rank 2 awaited",
                   hocket_recv(&value, 1, HOCKET_INT32, 2, comm, nullptr));
      come();
    }
    await_ready(1);
    EXPECT_EQ(barrier(comm), HOCKET_TIMEOUT);
  });
  expect_ends();
}

TEST_F(FailureTest, ARankThatNeverJoinsIsNamedOnEveryRank) {
  for (const int absent : {0, 2}) {
    SCOPED_TRACE(absent);
    const hocket_id id = new_id();
    const Instant begun = clock_.now();  // whoever comes later may be told by those before it
    start(4, [&](int rank) {
      if (rank == absent) return;
      hocket_options options = HOCKET_OPTIONS_INIT;
      options.init_timeout_ms = 400;
      hocket_comm* comm = nullptr;
      const Instant start = clock_.now();
      EXPECT_FAILS(HOCKET_TIMEOUT, "peer " + std::to_string(absent) + ": timeout: ",
                   hocket_comm_create(&comm, 4, &id, rank, &options));
      EXPECT_EQ(comm, nullptr);
      EXPECT_GE(clock_.now() - begun, milliseconds(400));
      EXPECT_LE(clock_.now() - start, milliseconds(1900));
    });
    expect_ends();
  }
}

TEST_F(FailureTest, ARankThatLeavesEarlyIsNamed) {
  start_comms(4, no_timeout(), [](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    if (rank == 1) return;
    EXPECT_FAILS(HOCKET_PEER_LOST, "peer 1: peer lost: ", barrier(comm));
    // Whoever found out says what has become of it.
    const std::string text = hocket_last_error();
    EXPECT_TRUE(text.find("rank 1 has left the communicator") != text.npos ||
                text.find("reported by rank") != text.npos)
        << text;
  });
  expect_ends();
}

TEST_F(FailureTest, LeavingAfterOnesLastOpHurtsNobody) {
  for (int i = 0; i < 10; ++i) {
    start_comms(4, no_timeout(), [](int rank, hocket_comm* comm) {
      std::vector<int> values(50'000, rank);
      // The root is done first, and leaves.
      EXPECT_OK(hocket_broadcast(values.data(), values.data(), values.size(), HOCKET_INT32, 2, comm,
                                 nullptr));
      EXPECT_EQ(values[49'999], 2);
    });
    expect_ends();
  }
}

TEST_F(FailureTest, AStoppedRankIsWaitedFor) {
  start_comms(3, no_timeout(), [this](int rank, hocket_comm* comm) {
    for (int i = 0; !board_->go || i < 1000; ++i) {
      if (i == 10) come();
      // All stop at the same op: the last one to be told goes on for all.
      if (add_up(board_->go && rank == 0 ? 1 : 0, comm) > 0) break;
    }
  });
  await_ready(3);
  ranks_.send(1, SIGSTOP);
  pass(seconds(2));
  ranks_.send(1, SIGCONT);
  board_->go = true;
  expect_ends();
}

// ---- abort -------------------------------------------------------------------------------------

TEST_F(FailureTest, AbortWhileAllWait) {
  start_comms(3, no_timeout(), [this](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    if (rank == 2) {
      std::thread([&] {
        come();
        await_ready(3);
        happens();
        EXPECT_OK(hocket_comm_abort(comm));
        board_->go = true;
      }).join();
      EXPECT_FAILS(HOCKET_ABORTED, "peer 2: aborted: hocket_comm_abort was called", barrier(comm));
      return;
    }
    std::thread waiter([&] {  // one waits, one aborts or looks on
      come();
      EXPECT_FAILS(HOCKET_ABORTED, "peer 2: aborted: ", barrier(comm));
      expect_within(kAborted);
    });
    waiter.join();
  });
  expect_ends();
}

TEST_F(FailureTest, AbortByAnotherThreadOfTheOneThatWaits) {
  start_comms(2, no_timeout(), [this](int rank, hocket_comm* comm) {
    if (rank == 1) return await_go();
    hocket_request* request = nullptr;
    EXPECT_OK(hocket_barrier(comm, &request));
    std::thread other([&] {
      pass(milliseconds(50));
      happens();
      EXPECT_OK(hocket_comm_abort(comm));
    });
    EXPECT_FAILS(HOCKET_ABORTED, "peer 0: aborted: hocket_comm_abort was called",
                 hocket_wait(&request, HOCKET_NO_TIMEOUT));
    expect_within(kAborted);
    other.join();
    board_->go = true;
  });
  expect_ends();
}

TEST_F(FailureTest, AbortWhileIdleReachesTheNextCallOfAll) {
  start_comms(3, no_timeout(), [this](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    come();
    if (rank == 1) {
      await_ready(3);
      EXPECT_OK(hocket_comm_abort(comm));
      EXPECT_OK(hocket_comm_abort(comm));  // once is enough
      board_->go = true;
    }
    await_go();
    EXPECT_FAILS(HOCKET_ABORTED, "peer 1: aborted: ", barrier(comm));
    hocket_result error = HOCKET_SUCCESS;
    EXPECT_OK(hocket_comm_async_error(comm, &error));
    EXPECT_EQ(error, HOCKET_ABORTED);
  });
  expect_ends();
}

TEST_F(FailureTest, AbortWhileAGroupIsOpen) {
  start_comms(2, no_timeout(), [this](int rank, hocket_comm* comm) {
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(barrier(comm));
    come();
    await_ready(2);
    if (rank == 0) {
      std::thread([&] { EXPECT_OK(hocket_comm_abort(comm)); }).join();
      board_->go = true;
    }
    await_go();
    EXPECT_FAILS(HOCKET_ABORTED, "peer 0: aborted: ", hocket_group_end(nullptr));
  });
  expect_ends();
}

TEST_F(FailureTest, AbortInAWorldOfOne) {
  start_comms(1, no_timeout(), [](int, hocket_comm* comm) {
    EXPECT_OK(hocket_comm_abort(comm));
    EXPECT_FAILS(HOCKET_ABORTED, "peer 0: aborted: hocket_comm_abort was called", barrier(comm));
  });
  expect_ends();
}

TEST_F(FailureTest, AbortFreesRanksThatAreThreads) {
  const hocket_id id = new_id();
  start(1, [&](int) {
    run_threads(0, 3, [&](int rank) {
      Comm comm(3, id, rank, no_timeout());
      if (rank == 2) {
        await_ready(2);
        pass(milliseconds(20));
        happens();
        EXPECT_OK(hocket_comm_abort(comm));
        return;
      }
      come();
      EXPECT_FAILS(HOCKET_ABORTED, "peer 2: aborted: ", barrier(comm));
      expect_within(kAborted);
    });
  });
  expect_ends();
}

// ---- ranks that disagree about an op -----------------------------------------------------------

/// Rank 0 and the others make different calls; all must hear of it, in words.
struct Disagreement {
  const char* what;
  hocket_result (*zero)(void* memory, hocket_comm* comm);
  hocket_result (*others)(void* memory, hocket_comm* comm);
};

template <std::size_t kCount, hocket_type kType = HOCKET_INT32>
hocket_result reduce_all(void* memory, hocket_comm* comm) {
  return hocket_all_reduce(memory, memory, kCount, kType, HOCKET_SUM, comm, nullptr);
}
template <std::size_t kCount>
hocket_result gather_all(void* memory, hocket_comm* comm) {
  int value[kCount] = {};
  return hocket_all_gather(value, memory, kCount, HOCKET_INT32, comm, nullptr);
}

class MismatchTest : public FailureTest, public ::testing::WithParamInterface<Disagreement> {};

TEST_P(MismatchTest, EndsOnEveryRank) {
  hocket_options options = patient_options();
  options.op_timeout_ms = 20'000;
  start_comms(3, options, [](int rank, hocket_comm* comm) {
    std::vector<std::byte> memory(1 << 23);
    const Disagreement& calls = GetParam();
    hocket_result result = (rank == 0 ? calls.zero : calls.others)(memory.data(), comm);
    for (int i = 0; i < 5 && result == HOCKET_SUCCESS; ++i) result = barrier(comm);
    EXPECT_FAILS(HOCKET_MISMATCH, "mismatch: ", result);
    EXPECT_EQ(barrier(comm), HOCKET_MISMATCH);
  });
  expect_ends();
}

INSTANTIATE_TEST_SUITE_P(
    Calls, MismatchTest,
    ::testing::Values(Disagreement{"count", reduce_all<10>, reduce_all<20>},
                      Disagreement{"far_count", reduce_all<10>, reduce_all<1'000'000>},
                      Disagreement{"type", reduce_all<10>, reduce_all<10, HOCKET_INT64>},
                      Disagreement{"gather_count", gather_all<10>, gather_all<11>}),
    [](const auto& tested) { return tested.param.what; });

TEST_F(FailureTest, AMessageOfAnotherSizeTellsBoth) {
  start_comms(2, no_timeout(), [](int rank, hocket_comm* comm) {
    std::array<int, 20> memory{};
    if (rank == 0) {
      static_cast<void>(hocket_send(memory.data(), 20, HOCKET_INT32, 1, comm, nullptr));
      EXPECT_EQ(barrier(comm), HOCKET_MISMATCH);
      return;
    }
    EXPECT_FAILS(HOCKET_MISMATCH, "peer 0: mismatch: rank 0 sent 80 bytes where 40 were expected",
                 hocket_recv(memory.data(), 10, HOCKET_INT32, 0, comm, nullptr));
  });
  expect_ends();
}

// ---- fork --------------------------------------------------------------------------------------

/// In a child that was forked from this rank: every call that needs the communicator is refused.
void expect_all_refused(hocket_comm* comm, hocket_request* request) {
  const auto usage = HOCKET_INVALID_USAGE;
  const std::string parent = "belongs to the parent of this process";
  int number = 0;
  hocket_result error = HOCKET_SUCCESS;
  EXPECT_FAILS(usage, "the group " + parent, hocket_group_end(nullptr));
  EXPECT_FAILS(usage, "barrier: the communicator " + parent, barrier(comm));
  EXPECT_FAILS(usage, "the communicator " + parent, hocket_comm_rank(comm, &number));
  EXPECT_FAILS(usage, "the communicator " + parent, hocket_comm_async_error(comm, &error));
  EXPECT_FAILS(usage, "the communicator " + parent, hocket_comm_abort(comm));
  EXPECT_FAILS(usage, "the communicator " + parent, hocket_comm_destroy(comm));
  EXPECT_FAILS(usage, "the request " + parent, hocket_wait(&request, 0));
  EXPECT_FAILS(usage, "the request " + parent, hocket_test(&request, &number));
  hocket_id id;
  EXPECT_OK(hocket_get_id(&id));
  EXPECT_FAILS(usage, "exec first", hocket_comm_create(&comm, 1, &id, 0, nullptr));
  EXPECT_EQ(hocket_version(), HOCKET_VERSION);
}

TEST_F(FailureTest, AForkedChildIsNoRank) {
  start_comms(2, no_timeout(), [this](int rank, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    hocket_request* request = nullptr;
    EXPECT_OK(hocket_barrier(comm, &request));
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(barrier(comm));
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      expect_all_refused(comm, request);
      std::exit(testing::Processes::failures() > 0 ? 1 : 0);
    }
    int status = 0;
    await([&] { return ::waitpid(child, &status, WNOHANG) == child; });
    EXPECT_EQ(status, 0);
    EXPECT_OK(hocket_group_end(nullptr));
    EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(add_up(rank, comm), 1);
  });
  expect_ends();
}

TEST_F(FailureTest, AChildForkedAfterTheLastDestroyMayBeARank) {
  const hocket_id first = new_id(), second = new_id();
  start(2, [&](int rank) {
    {
      EXPECT_OK(barrier(Comm(2, first, rank)));
    }
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      {
        EXPECT_EQ(add_up(rank, Comm(2, second, rank)), 1);
      }
      std::_Exit(testing::Processes::failures() > 0 ? 1 : 0);
    }
    int status = 0;
    await([&] { return ::waitpid(child, &status, WNOHANG) == child; });
    EXPECT_EQ(status, 0);
  });
  expect_ends();
}

// ---- what stays behind -------------------------------------------------------------------------

std::ptrdiff_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

std::ptrdiff_t threads() { return entries("/proc/self/task"); }
bool is_alone() { return threads() == 1; }  // a moment after the join: the kernel cleans up

constexpr char kHasThreads[] = "a race detector has threads of its own";

TEST_F(FailureTest, NothingStaysInTheProcess) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << kHasThreads;
  const hocket_id id = new_id();
  start(2, [&](int rank) {
    std::ptrdiff_t descriptors = 0;
    for (int i = 0; i < 50; ++i) {
      {
        Comm comm(2, id, rank);
        EXPECT_EQ(add_up(rank, comm), 1);
        EXPECT_EQ(threads(), 2);
      }
      await(is_alone);
      if (i == 0) descriptors = entries("/proc/self/fd");
      EXPECT_EQ(entries("/proc/self/fd"), descriptors);
    }
  });
  expect_ends();
}

TEST_F(FailureTest, TwoThreadsServeAnyNumberOfCommunicators) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << kHasThreads;
  std::vector<hocket_id> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(new_id());
  start(2, [&](int rank) {
    std::vector<hocket_comm*> comms(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      ASSERT_OK(hocket_comm_create(&comms[i], 2, &ids[i], rank, nullptr));
    EXPECT_EQ(threads(), 2);
    for (hocket_comm* comm : comms) EXPECT_OK(barrier(comm));
    for (hocket_comm* comm : comms) EXPECT_OK(hocket_comm_destroy(comm));
    await(is_alone);
  });
  expect_ends();
}

TEST_F(FailureTest, NothingIsEverInDevShm) {
  const std::ptrdiff_t before = entries("/dev/shm");
  start_comms(3, no_timeout(), [this](int, hocket_comm* comm) {
    EXPECT_OK(barrier(comm));
    come();
    await_go();
  });
  await_ready(3);
  EXPECT_EQ(entries("/dev/shm"), before);
  for (int rank = 0; rank < 3; ++rank) kill(rank);
  expect_ends({0, 1, 2});
  EXPECT_EQ(entries("/dev/shm"), before);
}

/// Two ranks meet in one process that may open so many more descriptors.
void meet_with(int spare, FailureTest::Board& board) {
  const hocket_id id = new_id();
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = static_cast<rlim_t>(::dup(0) + spare);  // the open ones are the lowest
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  run_threads(0, 2, [&](int rank) {
    hocket_options options = HOCKET_OPTIONS_INIT;
    options.init_timeout_ms = 300;
    hocket_comm* comm = nullptr;
    if (hocket_comm_create(&comm, 2, &id, rank, &options) == HOCKET_SUCCESS) {
      ++board.ready;
      EXPECT_OK(barrier(comm));
      EXPECT_OK(hocket_comm_destroy(comm));
      return;
    }
    EXPECT_EQ(comm, nullptr);
    const std::string text = hocket_last_error();
    if (text.find("system error") != text.npos && text.find("Too many open files") != text.npos)
      board.go = true;
  });
}

TEST_F(FailureTest, TooFewDescriptorsIsSaidSo) {
  if (testing::kAddressSanitizer)
    GTEST_SKIP() << "the sanitizer asks a pipe whether memory may be read, and gets none either";
  int refused = 0, met = 0;
  for (int spare = 0; spare < 12; ++spare) {
    start(1, [&, spare](int) { meet_with(spare, *board_); });
    expect_ends();
    EXPECT_TRUE(board_->go || board_->ready == 2) << spare;
    refused += board_->go;
    met += board_->ready == 2;
    board_->go = false;
    board_->ready = 0;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(met, 0);
}

}  // namespace
}  // namespace hocket::api
