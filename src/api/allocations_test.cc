// SPDX-License-Identifier: Apache-2.0
// In the steady state a collective takes no memory from the heap, whichever thread drives it: what
// it needs it has kept from earlier ones. Counted is every call of the C library's allocators in
// the process, operator new included, by putting functions of this file before them. They can also
// have no memory: what a user decides the number of fails then with an error, and all else goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "api/ranks_suite.h"
#include "base/array.h"

namespace {

std::atomic<std::uint64_t> allocations{0};
thread_local int allowed = INT_MAX;  // allocations of this thread that succeed before none does

bool take_one() {
  ++allocations;
  if (allowed == INT_MAX || allowed-- > 0) return true;
  allowed = 0;
  errno = ENOMEM;
  return false;
}

}  // namespace

#pragma GCC visibility push(default)  // hidden ones would not come before the library's
extern "C" {

void* __libc_malloc(std::size_t size);                       // NOLINT: glibc's names for its own
void* __libc_calloc(std::size_t count, std::size_t size);    // NOLINT
void* __libc_realloc(void* memory, std::size_t size);        // NOLINT
void* __libc_memalign(std::size_t align, std::size_t size);  // NOLINT

void* malloc(std::size_t size) noexcept { return take_one() ? __libc_malloc(size) : nullptr; }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return take_one() ? __libc_calloc(count, size) : nullptr;
}
void* realloc(void* memory, std::size_t size) noexcept {
  return take_one() ? __libc_realloc(memory, size) : nullptr;
}
void* memalign(std::size_t align, std::size_t size) noexcept {
  return take_one() ? __libc_memalign(align, size) : nullptr;
}
void* aligned_alloc(std::size_t align, std::size_t size) noexcept { return memalign(align, size); }
int posix_memalign(void** memory, std::size_t align, std::size_t size) noexcept {
  *memory = memalign(align, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
#pragma GCC visibility pop

namespace hocket::api {
namespace {

/// Elements: signals, inlined, in a cell, staged, by address.
constexpr std::size_t kCounts[] = {0, 1, 200, 3'000, 20'000, 60'000, 400'000};
constexpr std::size_t kMost = 400'000;

/// One rank's calls, over memory that it has beforehand.
class Caller {
 public:
  Caller(int rank, int world, hocket_comm* comm)
      : rank_(rank),
        world_(world),
        comm_(comm),
        input_(static_cast<std::size_t>(world) * kMost),
        output_(input_.size()) {}
  ~Caller() { EXPECT_EQ(failed_, 0); }

  /// What all threads of this process allocate while each rank calls once more. All ranks look
  /// before the first one begins, and again before the first one goes on.
  std::uint64_t count(void (Caller::*calls)()) {
    const std::uint64_t before = look();
    (this->*calls)();
    return look() - before;
  }

  void call_each() {
    for (const std::size_t count : kCounts) call_each(count);
  }
  void call_with_requests() {
    for (const std::size_t count : kCounts) call_with_request(count);
  }
  void call_groups() {
    for (const std::size_t count : kCounts) call_group(count);
  }

 private:
  std::uint64_t look() {
    check(hocket_barrier(comm_, nullptr));
    const std::uint64_t so_far = allocations;
    check(hocket_barrier(comm_, nullptr));
    return so_far;
  }
  void call_each(std::size_t count) {
    const hocket_type type = count % 3 == 0 ? HOCKET_FLOAT32 : HOCKET_INT32;
    float *const in = input_.data(), *const out = output_.data();
    for (const hocket_op op : {HOCKET_SUM, HOCKET_AVG}) {
      check(hocket_all_reduce(in, out, count, type, op, comm_, nullptr));
      check(hocket_reduce(in, out, count, type, op, world_ - 1, comm_, nullptr));
      check(hocket_reduce_scatter(in, out, count, type, op, comm_, nullptr));
    }
    check(hocket_all_gather(in, out, count, type, comm_, nullptr));
    check(hocket_alltoall(in, out, count, type, comm_, nullptr));
    check(hocket_broadcast(in, out, count, type, 0, comm_, nullptr));
    const int partner = rank_ ^ 1;
    const bool is_first = rank_ < partner;
    for (const bool sends : {is_first, !is_first})
      check(sends ? hocket_send(in, count, type, partner, comm_, nullptr)
                  : hocket_recv(out, count, type, partner, comm_, nullptr));
  }
  void call_with_request(std::size_t count) {
    hocket_request* request = nullptr;
    int done = 0;
    check(hocket_all_reduce(input_.data(), output_.data(), count, HOCKET_FLOAT32, HOCKET_SUM, comm_,
                            &request));
    check(hocket_test(&request, &done));
    if (!done) check(hocket_wait(&request, HOCKET_NO_TIMEOUT));
  }
  void call_group(std::size_t count) {
    float *const in = input_.data(), *const out = output_.data();
    check(hocket_group_start());
    for (int peer = 0; peer < world_; ++peer) {
      const std::size_t at = static_cast<std::size_t>(peer) * kMost;
      check(hocket_send(in + at, count, HOCKET_FLOAT32, peer, comm_, nullptr));
      check(hocket_recv(out + at, count, HOCKET_FLOAT32, peer, comm_, nullptr));
    }
    check(hocket_barrier(comm_, nullptr));
    check(hocket_group_end(nullptr));
  }
  void check(hocket_result result) { failed_ += result != HOCKET_SUCCESS; }

  const int rank_, world_;
  hocket_comm* const comm_;
  std::vector<float> input_, output_;
  int failed_ = 0;
};

struct Setting {
  const char* name;
  Layout layout;
};

class AllocationsTest : public ::testing::TestWithParam<Setting> {
 protected:
  /// That `calls` take so many times, after they were made twice.
  static void expect(std::uint64_t each, void (Caller::*calls)()) {
    const Layout& layout = GetParam().layout;
    const std::uint64_t expected = each * static_cast<std::uint64_t>(layout.threads);
    run_comms(layout, [&](int rank, hocket_comm* comm) {
      Caller caller(rank, layout.world(), comm);
      for (int i = 0; i < 2; ++i) caller.count(calls);
      for (int i = 0; i < 10; ++i) EXPECT_EQ(caller.count(calls), expected);
    });
  }
};

TEST_P(AllocationsTest, ABlockingCallHasNone) { expect(0, &Caller::call_each); }

TEST_P(AllocationsTest, AGroupHasNone) { expect(0, &Caller::call_groups); }

TEST_P(AllocationsTest, ARequestHasOneTheHandle) {
  expect(std::size(kCounts), &Caller::call_with_requests);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, AllocationsTest,
    ::testing::Values(
        Setting{"processes", {.processes = 2}}, Setting{"threads", {.threads = 2}},
        Setting{"both", {.processes = 2, .threads = 2}},
        Setting{"through_the_segment", {.processes = 2, .environment = {{"HOCKET_SHM_CMA", "0"}}}},
        Setting{"with_one_credit", {.processes = 2, .environment = {{"HOCKET_SHM_CREDITS", "1"}}}}),
    [](const auto& tested) { return tested.param.name; });

/// What `call` returns if so many allocations of this thread succeed in it, and none after those.
template <class Call>
auto with_memory_for(int count, Call call) {
  allowed = count;
  const auto returned = call();
  allowed = INT_MAX;
  return returned;
}

/// Calls with no memory at all, then with enough for one thing, for two, until it succeeds. Returns
/// how often it failed; each time with a code and a text that need no memory either.
template <class Call>
int call_until_memory_suffices(Call call) {
  for (int failed = 0; failed < 1000; ++failed) {
    const hocket_result result = with_memory_for(failed, call);
    if (result == HOCKET_SUCCESS) return failed;
    EXPECT_EQ(result, HOCKET_OUT_OF_MEMORY);
    EXPECT_STREQ(hocket_last_error(), "out of memory");
  }
  return -1;
}

TEST(Memory, RefusedToAnArrayLeavesItAsItWas) {
  Array<int> array;
  ASSERT_TRUE(array.reserve(2));
  const auto push_back = [&](int item) {
    return with_memory_for(0, [&] { return array.push_back(item); });
  };
  EXPECT_TRUE(push_back(1) && push_back(2));
  EXPECT_FALSE(push_back(3));
  EXPECT_FALSE(with_memory_for(0, [&] { return array.reserve(4); }));
  EXPECT_FALSE(with_memory_for(0, [] { return is_memory_left(1); }));
  ASSERT_EQ(array.size(), 2u);
  EXPECT_EQ(array[0] + array[1], 3);
  EXPECT_TRUE(array.push_back(3));
}

constexpr int kHeld = 50;

TEST(Memory, RefusedToARequestIsAnErrorAndNothingIsDone) {
  testing::Shared<std::atomic<bool>> all_there;
  run_comms({.processes = 2}, [&](int rank, hocket_comm* comm) {
    const std::vector<int> values(kHeld, rank);
    std::vector<int> sums(kHeld);
    std::vector<hocket_request*> requests(kHeld);
    const auto add = [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      return hocket_all_reduce(&values[at], &sums[at], 1, HOCKET_INT32, HOCKET_SUM, comm,
                               &requests[at]);
    };
    EXPECT_OK(hocket_all_reduce(&values[0], &sums[0], 1, HOCKET_INT32, HOCKET_SUM, comm, nullptr));
    // Rank 1 waits with its own until rank 0's are all there, so that none is used again.
    while (rank == 1 && !*all_there) testing::pause_a_little();
    for (int i = 0; i < kHeld; ++i) {
      const int failed = call_until_memory_suffices([&] { return add(i); });
      // The handle, the op, its work; then its lane, but that op is there since. So is the first.
      if (rank == 0) {
        EXPECT_EQ(failed, i == 0 ? 1 : 3);
      }
    }
    *all_there = true;
    for (hocket_request*& request : requests) EXPECT_OK(hocket_wait(&request, 10'000));
    EXPECT_EQ(sums, std::vector<int>(kHeld, 1));
  });
}

TEST(Memory, RefusedToAGroupIsAnErrorAndNothingIsDone) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    std::vector<int> in(kHeld), out(kHeld, rank);
    hocket_request* request = nullptr;
    const auto exchange = [&] {
      EXPECT_OK(hocket_group_start());
      hocket_result first = HOCKET_SUCCESS;
      for (int i = 0; i < kHeld; ++i) {
        const auto at = static_cast<std::size_t>(i);
        for (const bool sends : {true, false}) {
          const hocket_result called =
              sends ? hocket_send(&out[at], 1, HOCKET_INT32, 1 - rank, comm, nullptr)
                    : hocket_recv(&in[at], 1, HOCKET_INT32, 1 - rank, comm, nullptr);
          if (first == HOCKET_SUCCESS) first = called;
        }
      }
      const hocket_result ended = hocket_group_end(&request);
      EXPECT_TRUE(first == HOCKET_SUCCESS || ended == first);
      return ended;
    };
    EXPECT_OK(exchange());  // links, frames and prices
    EXPECT_OK(hocket_wait(&request, 10'000));
    std::thread([&] {  // whose group is there and has no memory yet
      EXPECT_OK(hocket_group_start());
      EXPECT_OK(hocket_group_end(nullptr));
      EXPECT_GT(call_until_memory_suffices(exchange), 3);  // what it got it keeps
      EXPECT_OK(hocket_wait(&request, 10'000));
    })
        .join();
    EXPECT_EQ(in, std::vector<int>(kHeld, 1 - rank));
    EXPECT_OK(hocket_barrier(comm, nullptr));
  });
}

TEST(Memory, RefusedToPricesIsAnErrorAndNothingIsDone) {
  run_comms({.processes = 2}, [](int rank, hocket_comm* comm) {
    int value = rank, sum = 0;
    EXPECT_OK(hocket_barrier(comm, nullptr));
    const auto add_up = [&] {
      return hocket_all_reduce(&value, &sum, 1, HOCKET_INT32, HOCKET_SUM, comm, nullptr);
    };
    EXPECT_EQ(with_memory_for(0, add_up), HOCKET_OUT_OF_MEMORY);
    EXPECT_OK(add_up());
    EXPECT_EQ(sum, 1);
  });
}

TEST(Memory, RefusedToACommunicatorIsAnError) {
  run_comms({.processes = 1}, [](int, hocket_comm*) {
    const hocket_id id = new_id();
    hocket_comm* comm = nullptr;
    const auto create = [&] { return hocket_comm_create(&comm, 1, &id, 0, nullptr); };
    EXPECT_EQ(with_memory_for(0, create), HOCKET_OUT_OF_MEMORY);
    EXPECT_EQ(comm, nullptr);
    EXPECT_OK(create());
    EXPECT_OK(hocket_comm_destroy(comm));
  });
}

TEST(Allocations, AreCounted) {
  const std::uint64_t before = allocations;
  std::vector<int> numbers(1);
  EXPECT_EQ(allocations, before + 1);
  numbers.resize(2);
  EXPECT_EQ(allocations, before + 2);
}

}  // namespace
}  // namespace hocket::api
