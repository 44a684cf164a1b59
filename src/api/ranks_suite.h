// SPDX-License-Identifier: Apache-2.0
// Ranks for tests of the C interface: in processes of their own, as threads of one process, or
// some of both. The test itself never has a communicator, so that it may fork and its children find
// the environment that they are given. Threads: each rank one. Ownership: Comm destroys its
// communicator. Failure: of the test, with the rank and what it wrote.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hocket/hocket.h"
#include "host/clock.h"
#include "testing/processes.h"

/// Expects success; else tells what the library had to say.
#define EXPECT_OK(...) EXPECT_EQ(__VA_ARGS__, HOCKET_SUCCESS) << hocket_last_error()
#define ASSERT_OK(...) ASSERT_EQ(__VA_ARGS__, HOCKET_SUCCESS) << hocket_last_error()
/// Expects this result and this part of the text. Once each is evaluated.
#define EXPECT_FAILS(result, part, ...)                                       \
  do {                                                                        \
    EXPECT_EQ(__VA_ARGS__, result) << hocket_last_error();                    \
    EXPECT_NE(std::string(hocket_last_error()).find(part), std::string::npos) \
        << "'" << hocket_last_error() << "' does not say '" << (part) << "'"; \
  } while (false)

namespace hocket::api {

/// How long most of these tests may take; under sanitizers and beside others they are slow.
inline constexpr Duration kPatience = seconds(60);

struct Layout {
  int processes = 1;
  int threads = 1;  ///< ranks of each process, by blocks
  std::vector<std::pair<const char*, const char*>> environment = {};
  Duration patience = kPatience;
  int world() const { return processes * threads; }
};

inline hocket_id new_id() {
  hocket_id id;
  EXPECT_OK(hocket_get_id(&id));
  return id;
}

/// Deadlines that no sound test meets: a hang ends as an error that says where.
inline hocket_options patient_options() {
  hocket_options options = HOCKET_OPTIONS_INIT;
  options.init_timeout_ms = 30'000;
  options.op_timeout_ms = 30'000;
  return options;
}

/// A rank's place, and a communicator that must come and go well.
class Comm {
 public:
  Comm(int world, const hocket_id& id, int rank, hocket_options options = patient_options()) {
    EXPECT_OK(hocket_comm_create(&comm_, world, &id, rank, &options));
    if (comm_ == nullptr) std::abort();  // nothing of the test makes sense
  }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm() { EXPECT_OK(hocket_comm_destroy(comm_)); }
  operator hocket_comm*() const { return comm_; }  // NOLINT: the C functions take it

 private:
  hocket_comm* comm_ = nullptr;
};

/// Runs body(rank) once per rank.
template <class Body>
void run_threads(int first, int count, Body body) {
  std::vector<std::thread> threads;
  for (int rank = first + 1; rank < first + count; ++rank) threads.emplace_back(body, rank);
  body(first);
  for (std::thread& thread : threads) thread.join();
}

template <class Body>
void run_ranks(const Layout& layout, Body body) {
  host::Clock clock;
  testing::Processes processes(clock);
  for (int p = 0; p < layout.processes; ++p)
    processes.start([&] {
      for (const auto& [name, value] : layout.environment) ::setenv(name, value, 1);
      run_threads(p * layout.threads, layout.threads, body);
    });
  processes.expect_well(layout.patience);
}

/// The same with a communicator each.
template <class Body>
void run_comms(const Layout& layout, const hocket_options& options, Body body) {
  const hocket_id id = new_id();
  run_ranks(layout, [&](int rank) {
    Comm comm(layout.world(), id, rank, options);
    body(rank, static_cast<hocket_comm*>(comm));
  });
}
template <class Body>
void run_comms(const Layout& layout, Body body) {
  run_comms(layout, patient_options(), body);
}

}  // namespace hocket::api
