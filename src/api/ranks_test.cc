// SPDX-License-Identifier: Apache-2.0
// Ranks that are process objects of one operating system process, each with a runtime of its own:
// loop, baton, progress thread. They meet through shared memory as other processes do, and here a
// race detector sees both ends of every link, the threads that drive it, and the user's buffers.
// Between processes it sees one end only.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/comm.h"
#include "api/trial_suite.h"
#include "testing/cases.h"

namespace hocket::api {
namespace {

constexpr int kRanks = 3;
constexpr int kSumOfRanks = kRanks * (kRanks - 1) / 2;

using OwnComm = std::unique_ptr<hocket_comm>;
using Ids = std::vector<hocket_id>;

Ids new_ids(std::size_t count) {
  Ids ids(count);
  for (hocket_id& id : ids) id = new_id();
  return ids;
}

hocket_options options_with(int channels, int slice_bytes, const char* algorithm = nullptr) {
  hocket_options options = patient_options();
  options.channels = channels;
  options.slice_bytes = slice_bytes;
  options.algorithm = algorithm;
  return options;
}

hocket_result add_up(const int& value, int& sum, hocket_comm* comm) {
  return hocket_all_reduce(&value, &sum, 1, HOCKET_INT32, HOCKET_SUM, comm, nullptr);
}

/// A machine of kRanks process objects. What a test's threads tell one another beside the library
/// goes through `stage_`.
class RanksTest : public ::testing::Test {
 public:
  explicit RanksTest(const host::Config& config = {}) : config_(config) {
    for (std::unique_ptr<Runtime>& runtime : runtimes_) runtime = new_runtime();
  }

 protected:
  std::unique_ptr<Runtime> new_runtime() { return Runtime::make(machine_).value(); }

  /// hocket_comm_create makes them in the one runtime that a program has.
  static OwnComm join(Runtime& runtime, const CommArguments& arguments) {
    Result<OwnComm> comm = hocket_comm::create(runtime, arguments);
    EXPECT_TRUE(comm) << comm.error().text();
    return std::move(comm).value();
  }
  OwnComm join(int rank, const hocket_id& id, const hocket_options& options = patient_options()) {
    return join(*runtimes_[static_cast<std::size_t>(rank)], {kRanks, rank, &id, &options});
  }

  template <class Body>
  static void each_rank(Body body) {
    run_threads(0, kRanks, body);
  }
  void await_stage(int stage) {
    EXPECT_TRUE(testing::eventually(machine_.clock, kPatience, [&] { return stage_ >= stage; }));
  }

  const host::Config config_;
  Machine machine_{config_};
  std::array<std::unique_ptr<Runtime>, kRanks> runtimes_;
  std::atomic<int> stage_{0};
};

// ---- everything at once ------------------------------------------------------------------------

/// Of 8 B to 1 MiB in all, with an exact result.
Case draw(std::uint64_t seed) {
  Prng random(seed);
  Case c;
  c.world = kRanks;
  c.collective = static_cast<Collective>(random.below(kCollectives));
  c.type = static_cast<DataType>(random.below(kDataTypes));
  c.op = static_cast<ReduceOp>(random.below(kReduceOps));
  // A third of a float is rounded.
  if (c.op == ReduceOp::avg && c.type != DataType::int32) c.type = DataType::int64;
  c.root = static_cast<int>(random.below(kRanks));
  c.in_place = random.below(2) == 0;
  c.shift = static_cast<std::uint32_t>(random.below(64));
  c.seed = seed;
  const std::uint64_t elements = (std::uint64_t{1} << random.below(18)) + random.below(3);
  if (c.collective != Collective::barrier) c.count = elements;
  if (c.collective == Collective::all_gather || c.collective == Collective::reduce_scatter ||
      c.collective == Collective::alltoall)
    c.count = (elements + kRanks - 1) / kRanks;
  return c;
}

/// Waits for the request in one of the ways that there are.
void end(hocket_request* request, Prng& random) {
  int done = 0;
  switch (random.below(3)) {
    case 0:
      EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
      return;
    case 1:  // by waits that may be too short
      while (hocket_wait(&request, static_cast<int>(random.below(2))) == HOCKET_TIMEOUT &&
             request != nullptr) {
      }
      EXPECT_EQ(request, nullptr);
      return;
    default:  // by asking
      while (!done) {
        EXPECT_OK(hocket_test(&request, &done));
        std::this_thread::yield();
      }
  }
}

/// Two communicators that one thread of each rank works with.
struct Pair {
  Place first, second;
};

/// A collective of its own, or up to four that are open at once.
void run_batch(const Pair& comms, Prng& common, Prng& own) {
  std::vector<std::pair<std::unique_ptr<Trial>, hocket_request*>> open(1 + common.below(4));
  for (auto& [trial, request] : open) {
    Case c = draw(common.next() >> 8);
    c.requests = open.size() > 1;
    trial = std::make_unique<Trial>(c, common.below(2) == 0 ? comms.first : comms.second);
    request = trial->begin();
  }
  for (std::size_t i = 0, from = own.below(open.size()); i < open.size(); ++i) {
    auto& [trial, request] = open[(from + i) % open.size()];
    if (request != nullptr) end(request, own);
    trial->check();
  }
}

/// Collectives and messages of both communicators in one submission.
void run_group(const Pair& comms, std::size_t count, Prng& own) {
  const int me = comms.second.rank, right = (me + 1) % kRanks, left = (me + kRanks - 1) % kRanks;
  std::vector<int> out(count, me), in(count, -1), sums(count);
  int one = 10 * me, sum = 0;
  hocket_request* request = nullptr;
  EXPECT_OK(hocket_group_start());
  EXPECT_OK(hocket_recv(in.data(), count, HOCKET_INT32, left, comms.second.comm, nullptr));
  EXPECT_OK(add_up(one, sum, comms.first.comm));
  EXPECT_OK(hocket_send(out.data(), count, HOCKET_INT32, right, comms.second.comm, nullptr));
  EXPECT_OK(hocket_all_reduce(out.data(), sums.data(), count, HOCKET_INT32, HOCKET_SUM,
                              comms.second.comm, nullptr));
  EXPECT_OK(hocket_barrier(comms.first.comm, nullptr));
  EXPECT_OK(hocket_group_end(&request));
  end(request, own);
  EXPECT_EQ(sum, 10 * kSumOfRanks);
  EXPECT_EQ(in, std::vector<int>(count, left));
  EXPECT_EQ(sums, std::vector<int>(count, kSumOfRanks));
}

void work(const Pair& comms, std::uint64_t seed) {
  Prng common(seed), own(seed + static_cast<std::uint64_t>(comms.first.rank) + 1);
  for (int i = 0; i < testing::cases(150); ++i) {
    run_batch(comms, common, own);
    run_group(comms, 1u << common.below(17), own);
  }
}

/// Several threads of each rank call the same on one communicator: any call may meet any other.
void share(hocket_comm* comm, std::atomic<int>& total) {
  for (int i = 0; i < testing::cases(1000); ++i) {
    const int value = i;
    int sum = 0;
    EXPECT_OK(add_up(value, sum, comm));
    total += sum;
  }
}

/// What may be asked beside all that goes on.
void look_on(const std::vector<OwnComm>& comms, const std::atomic<int>& working) {
  std::vector<std::string> explained(comms.size());
  while (working > 0)
    for (std::size_t i = 0; i < comms.size(); ++i) {
      hocket_comm* const comm = comms[i].get();
      hocket_result error = HOCKET_TIMEOUT;
      EXPECT_OK(hocket_comm_async_error(comm, &error));
      EXPECT_EQ(error, HOCKET_SUCCESS);
      std::array<char, 4096> text{};
      EXPECT_OK(hocket_explain(comm, HOCKET_ALL_REDUCE, 50'000, HOCKET_FLOAT32, HOCKET_SUM,
                               text.data(), text.size(), nullptr));
      if (explained[i].empty()) explained[i] = text.data();
      EXPECT_EQ(explained[i], text.data());
      std::this_thread::yield();
    }
}

host::Config one_credit() {
  host::Config config;
  config.shm_credits = 1;
  config.shm_staged_bytes = 64;
  return config;
}

class LoadTest : public RanksTest, public ::testing::WithParamInterface<bool> {
 public:
  LoadTest() : RanksTest(GetParam() ? one_credit() : host::Config()) {}

 protected:
  static constexpr int kWorkers = 2, kSharers = 2;
  static constexpr std::size_t kShared = 2 * kWorkers;  // the last of a rank's communicators

  /// Ranks come in another order in each.
  std::vector<OwnComm> join_all(int rank, const Ids& ids) {
    const hocket_options options[] = {options_with(0, 0), options_with(3, 4096),
                                      options_with(1, 64 << 10, "ring"), options_with(2, 32 << 10),
                                      options_with(0, 0)};
    std::vector<OwnComm> comms;
    for (std::size_t i = 0; i <= kShared; ++i)
      comms.push_back(join(*runtimes_[static_cast<std::size_t>(rank)],
                           {kRanks, (rank + static_cast<int>(i)) % kRanks, &ids[i], &options[i]}));
    return comms;
  }
  /// Communicators come and go while others work.
  void come_and_go(int rank, const hocket_id& id) {
    for (int i = 0; i < testing::cases(100); ++i) {
      const OwnComm comm = join(rank, id);
      int sum = 0;
      EXPECT_OK(add_up(rank + i, sum, comm.get()));
      EXPECT_EQ(sum, kRanks * i + kSumOfRanks);
    }
  }
};

Place place_of(const OwnComm& comm) { return {static_cast<int>(comm->rank().value), comm.get()}; }

TEST_P(LoadTest, IsRight) {
  const Ids ids = new_ids(kShared + 2);
  std::array<std::atomic<int>, kRanks> totals{};
  each_rank([&](int rank) {
    const std::vector<OwnComm> comms = join_all(rank, ids);
    std::atomic<int> working{kWorkers + kSharers + 1};
    run_threads(0, working + 1, [&](int thread) {
      const auto first = static_cast<std::size_t>(2 * thread);
      if (thread < kWorkers) {
        work({place_of(comms[first]), place_of(comms[first + 1])}, first + 1);
      } else if (thread < kWorkers + kSharers) {
        share(comms[kShared].get(), totals[static_cast<std::size_t>(rank)]);
      } else if (thread == kWorkers + kSharers) {
        come_and_go(rank, ids[kShared + 1]);
      } else {
        return look_on(comms, working);
      }
      --working;
    });
  });
  // Who met whom is open, but all was added once.
  const int n = testing::cases(1000);
  for (const std::atomic<int>& total : totals)
    EXPECT_EQ(total, kRanks * kSharers * n * (n - 1) / 2);
}

INSTANTIATE_TEST_SUITE_P(Machines, LoadTest, ::testing::Values(false, true),
                         [](const auto& tested) {
                           return tested.param ? "with_one_credit" : "as_it_is";
                         });

// ---- one communicator fails while another one works --------------------------------------------

constexpr std::size_t kMany = 1 << 18;  // floats: 1 MiB

/// Each call has memory of its own, which goes as soon as the call is done.
hocket_result add_up_many(hocket_comm* comm, std::atomic<int>& called) {
  const std::vector<float> ones(kMany, 1);
  std::vector<float> sums(kMany);
  hocket_request* request = nullptr;
  hocket_result result = hocket_all_reduce(ones.data(), sums.data(), kMany, HOCKET_FLOAT32,
                                           HOCKET_SUM, comm, &request);
  ++called;
  if (result == HOCKET_SUCCESS) result = hocket_wait(&request, HOCKET_NO_TIMEOUT);
  EXPECT_EQ(request, nullptr);
  if (result == HOCKET_SUCCESS) {
    EXPECT_EQ(sums, std::vector<float>(kMany, kRanks));
  }
  return result;
}

hocket_result call_until_failure(hocket_comm* comm, std::atomic<int>& called) {
  hocket_result result = HOCKET_SUCCESS;
  while (result == HOCKET_SUCCESS) result = add_up_many(comm, called);
  return result;
}

void run_batches(const OwnComm& comm, int batches, std::uint64_t seed) {
  Prng common(seed), own(seed + comm->rank().value + 1);
  for (int i = 0; i < batches; ++i) run_batch({place_of(comm), place_of(comm)}, common, own);
}

TEST_F(RanksTest, AnAbortEndsOneCommunicatorAlone) {
  for (int round = 0; round < testing::cases(30); ++round) {
    const Ids ids = new_ids(2);
    stage_ = 0;
    each_rank([&](int rank) {
      const OwnComm aborted = join(rank, ids[0]), sound = join(rank, ids[1], options_with(2, 8192));
      run_threads(0, 4, [&](int thread) {
        if (thread == 0) return run_batches(sound, 8, static_cast<std::uint64_t>(round));
        const std::string text = "peer 1: aborted: ";
        if (thread < 3) {
          EXPECT_FAILS(HOCKET_ABORTED, text, call_until_failure(aborted.get(), stage_));
          EXPECT_FAILS(HOCKET_ABORTED, text, hocket_barrier(aborted.get(), nullptr));
        } else if (rank == 1) {
          await_stage(2 * kRanks + round);
          EXPECT_OK(hocket_comm_abort(aborted.get()));
        } else {  // hears of it by asking
          hocket_result error = HOCKET_SUCCESS;
          while (error == HOCKET_SUCCESS) EXPECT_OK(hocket_comm_async_error(aborted.get(), &error));
          EXPECT_FAILS(HOCKET_ABORTED, text, error);
        }
      });
    });
  }
}

TEST_F(RanksTest, ARankThatLeavesIsNamedAndMayComeAgain) {
  const Ids ids = new_ids(3);
  each_rank([&](int rank) {
    OwnComm comm = join(rank, ids[0]);
    if (rank == 2) {
      for (int i = 0; i < 5; ++i) EXPECT_OK(add_up_many(comm.get(), stage_));
      comm.reset();
      runtimes_[2].reset();
      runtimes_[2] = new_runtime();
    } else {
      const OwnComm two = join(*runtimes_[static_cast<std::size_t>(rank)], {2, rank, &ids[1]});
      run_threads(0, 3, [&](int thread) {
        if (thread < 2) {
          EXPECT_FAILS(HOCKET_PEER_LOST,
                       "peer 2: peer lost: ", call_until_failure(comm.get(), stage_));
          return;
        }
        for (int i = 0, sum = 0; i < 200; ++i) {
          EXPECT_OK(add_up(rank + i, sum, two.get()));
          EXPECT_EQ(sum, 2 * i + 1);
        }
      });
    }
    comm = join(rank, ids[2]);
    run_batches(comm, 5, 1);
  });
}

TEST_F(RanksTest, ARankThatNeverCallsIsNamedByTheDeadline) {
  const Ids ids = new_ids(2);
  hocket_options impatient = patient_options();
  impatient.op_timeout_ms = 200;
  each_rank([&](int rank) {
    const OwnComm overdue = join(rank, ids[0], impatient), sound = join(rank, ids[1]);
    const std::string text = "peer 0: timeout: ";
    run_threads(0, 2, [&](int thread) {
      if (thread == 0) return run_batches(sound, 20, 1);
      if (rank == 0) {
        await_stage(kRanks - 1);
        EXPECT_FAILS(HOCKET_TIMEOUT, text, hocket_barrier(overdue.get(), nullptr));
        return;
      }
      hocket_request* request = nullptr;
      EXPECT_OK(hocket_barrier(overdue.get(), &request));
      hocket_result result = HOCKET_SUCCESS;
      while (request != nullptr) result = hocket_wait(&request, 3);  // each shorter than the op's
      EXPECT_FAILS(HOCKET_TIMEOUT, text, result);
      ++stage_;
    });
  });
}

// ---- threads -----------------------------------------------------------------------------------

TEST_F(RanksTest, OpsGoOnWithoutTheirCallers) {
  const hocket_id id = new_id();
  each_rank([&](int rank) {
    const OwnComm comm = join(rank, id);
    const std::vector<float> ones(kMany, 1);
    for (int waiting = 0; waiting < kRanks; ++waiting) {  // the others only look when it is done
      std::vector<float> sums(kMany);
      hocket_request* request = nullptr;
      EXPECT_OK(hocket_all_reduce(ones.data(), sums.data(), kMany, HOCKET_FLOAT32, HOCKET_SUM,
                                  comm.get(), &request));
      if (rank != waiting) await_stage(waiting + 1);
      std::thread([&] { EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT)); }).join();
      if (rank == waiting) ++stage_;
      EXPECT_EQ(sums, std::vector<float>(kMany, kRanks));
    }
  });
}

}  // namespace
}  // namespace hocket::api
