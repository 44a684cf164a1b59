// SPDX-License-Identifier: Apache-2.0
// In the steady state a collective takes no memory from the heap, whichever thread drives it: what
// it needs it has kept from earlier ones. Counted is every call of the C library's allocators in
// the process, operator new included, by putting functions of this file before them.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/ranks_suite.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

#pragma GCC visibility push(default)  // hidden ones would not come before the library's
extern "C" {

void* __libc_malloc(std::size_t size);                       // NOLINT: glibc's names for its own
void* __libc_calloc(std::size_t count, std::size_t size);    // NOLINT
void* __libc_realloc(void* memory, std::size_t size);        // NOLINT
void* __libc_memalign(std::size_t align, std::size_t size);  // NOLINT

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t align, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(align, size);
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

TEST(Allocations, AreCounted) {
  const std::uint64_t before = allocations;
  std::vector<int> numbers(1);
  EXPECT_EQ(allocations, before + 1);
  numbers.resize(2);
  EXPECT_EQ(allocations, before + 2);
}

}  // namespace
}  // namespace hocket::api
