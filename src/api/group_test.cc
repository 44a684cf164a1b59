// SPDX-License-Identifier: Apache-2.0
// Groups: what they gather, in which order it happens, and that it happens all or not at all.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <thread>
#include <vector>

#include "api/ranks_suite.h"

namespace hocket::api {
namespace {

constexpr hocket_type kInt = HOCKET_INT32;

hocket_result add_up(const int* value, int* sum, hocket_comm* comm) {
  return hocket_all_reduce(value, sum, 1, kInt, HOCKET_SUM, comm, nullptr);
}

TEST(Group, EndWithoutStartIsRefused) {
  EXPECT_FAILS(HOCKET_INVALID_USAGE, "hocket_group_end without hocket_group_start",
               hocket_group_end(nullptr));
}

TEST(Group, OfNothingIsDoneAtOnce) {
  hocket_request* request = reinterpret_cast<hocket_request*>(&request);
  EXPECT_OK(hocket_group_start());
  EXPECT_OK(hocket_group_end(&request));
  EXPECT_EQ(request, nullptr);
}

TEST(Group, ExchangesOnARingOfAnySize) {
  for (const int world : {1, 2, 3, 5}) {
    run_comms({.processes = world}, [world](int rank, hocket_comm* comm) {
      const int right = (rank + 1) % world, left = (rank + world - 1) % world;
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{200'000}}) {
        std::vector<int> out(count), in(count, -1);
        std::iota(out.begin(), out.end(), 1000 * rank);
        EXPECT_OK(hocket_group_start());
        EXPECT_OK(hocket_send(out.data(), count, kInt, right, comm, nullptr));
        EXPECT_OK(hocket_recv(in.data(), count, kInt, left, comm, nullptr));
        EXPECT_OK(hocket_group_end(nullptr));
        std::iota(out.begin(), out.end(), 1000 * left);
        EXPECT_EQ(in, out);
      }
    });
  }
}

TEST(Group, PairsMessagesByTheirOrderToEachPeer) {
  run_comms({.processes = 3}, [](int rank, hocket_comm* comm) {
    std::array<int, 9> out, in{};
    for (int i = 0; i < 9; ++i) out[static_cast<std::size_t>(i)] = 100 * rank + i;
    EXPECT_OK(hocket_group_start());
    // Receives before sends, and peers from last to first: only the order to one peer counts.
    for (int peer = 2; peer >= 0; --peer)
      for (int k = 0; k < 3; ++k)
        EXPECT_OK(
            hocket_recv(&in[static_cast<std::size_t>(3 * peer + k)], 1, kInt, peer, comm, nullptr));
    for (int k = 0; k < 3; ++k)
      for (int peer = 0; peer < 3; ++peer)
        EXPECT_OK(hocket_send(&out[static_cast<std::size_t>(3 * peer + k)], 1, kInt, peer, comm,
                              nullptr));
    EXPECT_OK(hocket_group_end(nullptr));
    for (int peer = 0; peer < 3; ++peer)
      for (int k = 0; k < 3; ++k)
        EXPECT_EQ(in[static_cast<std::size_t>(3 * peer + k)], 100 * peer + 3 * rank + k);
  });
}

TEST(Group, SendsOfOneMeetReceivesWithout) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    std::array<int, 3> values{1, 2, 3};
    if (rank == 0) {
      EXPECT_OK(hocket_group_start());
      for (const int& value : values) EXPECT_OK(hocket_send(&value, 1, kInt, 1, comm, nullptr));
      EXPECT_OK(hocket_group_end(nullptr));
    } else {
      values = {};
      for (int& value : values) EXPECT_OK(hocket_recv(&value, 1, kInt, 0, comm, nullptr));
      EXPECT_EQ(values, (std::array{1, 2, 3}));
    }
  });
}

TEST(Group, MessagesOutsideOfOneHaveRequests) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    std::vector<float> values(50'000, static_cast<float>(rank));
    hocket_request* request = nullptr;
    if (rank == 0) {
      EXPECT_OK(hocket_send(values.data(), values.size(), HOCKET_FLOAT32, 1, comm, &request));
    } else {
      EXPECT_OK(hocket_recv(values.data(), values.size(), HOCKET_FLOAT32, 0, comm, &request));
    }
    EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
    EXPECT_EQ(values[49'999], 0);
  });
}

TEST(Group, CollectivesKeepTheirOrderBesideMessages) {
  run_comms({.processes = 2, .threads = 2}, [](int rank, hocket_comm* comm) {
    int one = rank, sum = 0, in = -1;
    std::vector<int> many(5000, rank), sums(5000), all(4);
    const int peer = 3 - rank;
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(add_up(&one, &sum, comm));
    EXPECT_OK(hocket_send(&one, 1, kInt, peer, comm, nullptr));
    EXPECT_OK(
        hocket_all_reduce(many.data(), sums.data(), many.size(), kInt, HOCKET_SUM, comm, nullptr));
    EXPECT_OK(hocket_recv(&in, 1, kInt, peer, comm, nullptr));
    EXPECT_OK(hocket_barrier(comm, nullptr));
    EXPECT_OK(hocket_all_gather(&one, all.data(), 1, kInt, comm, nullptr));
    EXPECT_OK(hocket_group_end(nullptr));
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(sums, std::vector<int>(5000, 6));
    EXPECT_EQ(all, (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(in, peer);
  });
}

TEST(Group, NestsAndTheOutermostEndSubmits) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    int one = rank + 1, sum = 0, in = 0;
    hocket_request* request = nullptr;
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(add_up(&one, &sum, comm));
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(hocket_send(&one, 1, kInt, 1 - rank, comm, nullptr));
    EXPECT_OK(hocket_group_end(&request));
    EXPECT_EQ(request, nullptr);
    EXPECT_OK(hocket_recv(&in, 1, kInt, 1 - rank, comm, nullptr));
    EXPECT_EQ(sum, 0);
    EXPECT_OK(hocket_group_end(&request));
    ASSERT_NE(request, nullptr);
    EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(in, 2 - rank);
  });
}

TEST(Group, SpansCommunicators) {
  const hocket_id a = new_id(), b = new_id();
  run_ranks({.processes = 2}, [&](int rank) {
    Comm first(2, a, rank), second(2, b, 1 - rank);
    int values[2] = {rank, 10 * rank}, sums[2] = {};
    for (int i = 0; i < 20; ++i) {
      hocket_request* request = nullptr;
      EXPECT_OK(hocket_group_start());
      EXPECT_OK(add_up(&values[0], &sums[0], first));
      EXPECT_OK(add_up(&values[1], &sums[1], second));
      EXPECT_OK(hocket_group_end(i % 2 == 0 ? &request : nullptr));
      if (request != nullptr) {
        EXPECT_FAILS(HOCKET_INVALID_USAGE, "1 op is in use", hocket_comm_destroy(second));
        EXPECT_OK(hocket_wait(&request, HOCKET_NO_TIMEOUT));
      }
      EXPECT_EQ(sums[0], 1);
      EXPECT_EQ(sums[1], 10);
    }
  });
}

// One thread holds several ranks: without the group each call would wait for the next one.
TEST(Group, LetsOneThreadCallForSeveralRanks) {
  run_ranks({}, [](int) {
    constexpr int kWorld = 3;
    const hocket_id id = new_id();
    std::array<hocket_comm*, kWorld> comms{};
    run_threads(0, kWorld, [&](int rank) {
      hocket_options options = patient_options();
      EXPECT_OK(
          hocket_comm_create(&comms[static_cast<std::size_t>(rank)], kWorld, &id, rank, &options));
    });
    std::array<int, kWorld> values{1, 2, 3}, sums{};
    EXPECT_OK(hocket_group_start());
    for (std::size_t r = 0; r < kWorld; ++r) EXPECT_OK(add_up(&values[r], &sums[r], comms[r]));
    EXPECT_OK(hocket_group_end(nullptr));
    EXPECT_EQ(sums, (std::array{6, 6, 6}));
    for (hocket_comm* comm : comms) EXPECT_OK(hocket_comm_destroy(comm));
  });
}

TEST(Group, MessagesToOneselfMeetFirstWithFirst) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    std::array<int, 2> out{7, 8}, in{};
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(hocket_recv(&in[0], 1, kInt, rank, comm, nullptr));
    EXPECT_OK(hocket_send(&out[0], 1, kInt, rank, comm, nullptr));
    EXPECT_OK(hocket_send(&out[1], 1, kInt, rank, comm, nullptr));
    EXPECT_OK(hocket_recv(&in[1], 1, kInt, rank, comm, nullptr));
    EXPECT_OK(hocket_group_end(nullptr));
    EXPECT_EQ(in, out);
  });
}

TEST(Group, AMessageToOneselfThatMeetsNothingIsRefused) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    int value = 1, other[2] = {};
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "send of 1 int32 to oneself without a receive",
                 hocket_send(&value, 1, kInt, rank, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "recv of 1 int32 from oneself without a send",
                 hocket_recv(&value, 1, kInt, rank, comm, nullptr));
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(hocket_send(&value, 1, kInt, rank, comm, nullptr));
    EXPECT_OK(hocket_recv(other, 2, kInt, rank, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "send of 1 int32 to oneself without a receive of as many",
                 hocket_group_end(nullptr));
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(hocket_send(&value, 1, kInt, rank, comm, nullptr));
    EXPECT_OK(hocket_recv(other, 1, HOCKET_FLOAT32, rank, comm, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "send of 1 int32 to oneself", hocket_group_end(nullptr));
    EXPECT_OK(hocket_barrier(comm, nullptr));  // nothing of all that is pending
  });
}

TEST(Group, RefusesRequestsOfItsCalls) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    int value = rank, sum = 0;
    hocket_request* request = nullptr;
    EXPECT_OK(hocket_group_start());
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "barrier: a call inside a group has no request of its own",
                 hocket_barrier(comm, &request));
    EXPECT_EQ(request, nullptr);
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "barrier: a call inside a group", hocket_group_end(nullptr));
    EXPECT_OK(add_up(&value, &sum, comm));
    EXPECT_EQ(sum, 1);
  });
}

// Rank 0 knows of the failure when it submits, the others perhaps not: what they submit to a
// healthy communicator must meet its ops, in their order.
TEST(Group, AFailedCommunicatorFailsItsPartAlone) {
  const hocket_id ids[] = {new_id(), new_id()};
  run_ranks({.processes = 3}, [&](int rank) {
    const Comm healthy(3, ids[0], rank), failed(3, ids[1], rank);
    int hundred = 100, one = 1, sum = 0, none = 0, next = 0;
    if (rank == 0) {
      EXPECT_OK(hocket_comm_abort(failed));
    }
    for (const bool has_request : {false, true}) {
      hocket_request* request = nullptr;
      EXPECT_OK(hocket_group_start());
      EXPECT_OK(add_up(&hundred, &none, failed));
      EXPECT_OK(add_up(&hundred, &sum, healthy));
      hocket_result result = hocket_group_end(has_request ? &request : nullptr);
      if (request != nullptr) result = hocket_wait(&request, HOCKET_NO_TIMEOUT);
      EXPECT_EQ(result, HOCKET_ABORTED);
      EXPECT_EQ(sum, 300);
      EXPECT_OK(add_up(&one, &next, healthy));
      EXPECT_EQ(next, 3);
    }
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(add_up(&hundred, &none, failed));
    hocket_request* request = nullptr;
    EXPECT_FAILS(HOCKET_ABORTED, "", hocket_group_end(&request));
    EXPECT_EQ(request, nullptr);
  });
}

TEST(Group, OfAFailingCallDoesNothing) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    int value = 5, sum = 0;
    hocket_request* request = nullptr;
    for (const bool nested : {false, true}) {
      EXPECT_OK(hocket_group_start());
      EXPECT_OK(add_up(&value, &sum, comm));
      if (nested) {
        EXPECT_OK(hocket_group_start());
      }
      EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "recv: peer 9",
                   hocket_recv(&value, 1, kInt, 9, comm, nullptr));
      EXPECT_EQ(hocket_broadcast(&value, &value, 1, kInt, -1, comm, nullptr),
                HOCKET_INVALID_ARGUMENT);
      if (nested) {
        EXPECT_OK(hocket_group_end(nullptr));
      }
      EXPECT_OK(hocket_barrier(comm, nullptr));
      EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "recv: peer 9", hocket_group_end(&request));
      EXPECT_EQ(request, nullptr);
    }
    EXPECT_EQ(sum, 0);
    value = rank + 1;
    EXPECT_OK(add_up(&value, &sum, comm));  // the first op that there is
    EXPECT_EQ(sum, 3);
  });
}

TEST(Group, OfTwoCommunicatorsIsSubmittedWholeOrNot) {
  const hocket_id a = new_id(), b = new_id();
  run_ranks({.processes = 2}, [&](int rank) {
    Comm first(2, a, rank), second(2, b, rank);
    int value = 3, sum = 0;
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(add_up(&value, &sum, first));
    EXPECT_OK(hocket_send(&value, 1, kInt, rank, second, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_ARGUMENT, "send of 1 int32 to oneself", hocket_group_end(nullptr));
    EXPECT_EQ(sum, 0);
    value = rank + 1;
    EXPECT_OK(add_up(&value, &sum, first));
    EXPECT_EQ(sum, 3);
    EXPECT_OK(add_up(&value, &sum, second));
  });
}

TEST(Group, HasNoRoomForCreateAndDestroy) {
  run_comms({}, [](int, hocket_comm* comm) {
    const hocket_id id = new_id();
    hocket_comm* other = nullptr;
    EXPECT_OK(hocket_group_start());
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "hocket_comm_create: inside a group",
                 hocket_comm_create(&other, 1, &id, 0, nullptr));
    EXPECT_FAILS(HOCKET_INVALID_USAGE, "hocket_comm_destroy: inside a group",
                 hocket_comm_destroy(comm));
    EXPECT_OK(hocket_group_end(nullptr));
  });
}

TEST(Group, KeepsACommunicatorFromBeingDestroyed) {
  run_comms({.threads = 2}, [](int rank, hocket_comm* comm) {
    int value = rank, sum = 0;
    const auto destroy = [&] {
      EXPECT_FAILS(HOCKET_INVALID_USAGE,
                   "hocket_comm_destroy: another thread's open group has calls of it",
                   hocket_comm_destroy(comm));
    };
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(add_up(&value, &sum, comm));
    std::thread(destroy).join();
    EXPECT_OK(hocket_group_end(nullptr));
    EXPECT_EQ(sum, 1);
    // A group that nobody can end any more holds nothing.
    std::thread([&] {
      EXPECT_OK(hocket_group_start());
      EXPECT_OK(add_up(&value, &sum, comm));
      std::thread(destroy).join();
    }).join();
  });
}

TEST(Group, BelongsToItsThread) {
  run_comms({.threads = 2}, [](int rank, hocket_comm* comm) {
    int value = rank, sum = 0, later = 0;
    EXPECT_OK(hocket_group_start());
    EXPECT_OK(hocket_barrier(comm, nullptr));
    std::thread([&] {
      EXPECT_OK(add_up(&value, &sum, comm));  // at once: it comes before the group's
      EXPECT_FAILS(HOCKET_INVALID_USAGE, "without hocket_group_start", hocket_group_end(nullptr));
    }).join();
    EXPECT_EQ(sum, 1);
    EXPECT_OK(hocket_group_end(nullptr));
    EXPECT_OK(add_up(&value, &later, comm));
  });
}

TEST(Group, HoldsManyCalls) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    constexpr std::size_t kCalls = 300;
    std::vector<int> values(kCalls), sums(kCalls), in(kCalls);
    std::iota(values.begin(), values.end(), rank);
    EXPECT_OK(hocket_group_start());
    for (std::size_t i = 0; i < kCalls; ++i) {
      EXPECT_OK(add_up(&values[i], &sums[i], comm));
      EXPECT_OK(hocket_send(&values[i], 1, kInt, 1 - rank, comm, nullptr));
      EXPECT_OK(hocket_recv(&in[i], 1, kInt, 1 - rank, comm, nullptr));
    }
    EXPECT_OK(hocket_group_end(nullptr));
    for (std::size_t i = 0; i < kCalls; ++i) {
      EXPECT_EQ(sums[i], 2 * static_cast<int>(i) + 1);
      EXPECT_EQ(in[i], static_cast<int>(i) + 1 - rank);
    }
  });
}

}  // namespace
}  // namespace hocket::api
