// SPDX-License-Identifier: Apache-2.0
// Children of a test: processes that run a function of it each, for what only shows between
// processes. What a child writes, its failed expectations too, is kept and told with its end; who
// overstays a deadline is killed, so that no test hangs.
// Threads: one; a test that starts a child has no other thread. Ownership: kills and reaps whoever
// is left. Failure: told in End; failing to fork is a failed CHECK.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "world/clock.h"

namespace hocket::testing {

/// A millisecond, for others to go on.
inline void pause_a_little();
/// Waits until `condition()` holds; false when `most` has passed first.
template <class Condition>
bool eventually(world::Clock& clock, Duration most, Condition condition);

/// A zeroed T that a test shares with its children; what crosses is atomic.
template <class T>
class Shared {
 public:
  Shared() : value_(std::construct_at(static_cast<T*>(map(sizeof(T))))) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(value_, sizeof(T)); }
  T& operator*() { return *value_; }
  T* operator->() { return value_; }

 private:
  static void* map(std::size_t size) {
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED, "no memory to share with children");
    return memory;
  }
  T* const value_;
};

struct End {
  int code = 0;          ///< what it exited with; less the signal that killed it
  bool overdue = false;  ///< it was killed because its time was up
  std::string text;      ///< what it wrote
  bool well() const { return code == 0 && !overdue; }
};

class Processes {
 public:
  explicit Processes(world::Clock& clock) : clock_(clock) {}
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() { join_all(Duration{0}); }

  /// Starts a child that runs body() and exits with 1 if that failed an expectation, else with 0.
  /// Returns its index, from 0.
  template <class Body>
  int start(Body&& body) {
    const int index = fork_one();
    if (index >= 0) return index;
    const int before = failures();
    body();
    leave(failures() > before ? 1 : 0);
  }
  /// Failed expectations of this test so far, in this process.
  static int failures();

  pid_t pid(int child) const { return children_[static_cast<std::size_t>(child)].pid; }
  void send(int child, int signal) const;

  /// Waits for all; who is left after `most` is killed. By index.
  std::vector<End> join_all(Duration most);
  /// The same, but all must end well: who does not is a failure of the test.
  void expect_well(Duration most);

 private:
  struct Child {
    pid_t pid = 0;
    int output = -1;
    bool running = true;
    End end;
  };
  int fork_one();  // -1: this is the child
  [[noreturn]] static void leave(int code);
  bool look_after();  // whether some are still running
  static void read_output(Child& child);

  world::Clock& clock_;
  std::vector<Child> children_;
};

template <class Condition>
bool eventually(world::Clock& clock, Duration most, Condition condition) {
  const Instant until = clock.now() + most;
  while (!condition()) {
    if (clock.now() >= until) return false;
    pause_a_little();
  }
  return true;
}

inline void pause_a_little() { ::poll(nullptr, 0, 1); }

inline int Processes::failures() {
  const ::testing::TestResult& result =
      *::testing::UnitTest::GetInstance()->current_test_info()->result();
  int failed = 0;
  for (int i = 0; i < result.total_part_count(); ++i)
    failed += result.GetTestPartResult(i).failed();
  return failed;
}

inline int Processes::fork_one() {
  int ends[2];
  CHECK(::pipe2(ends, O_CLOEXEC) == 0, "no pipe to a child");
  std::fflush(nullptr);  // else the child would write it once more
  const pid_t pid = ::fork();
  CHECK(pid >= 0, "no child");
  if (pid > 0) {
    ::close(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    children_.push_back({pid, ends[0], true, {}});
    return static_cast<int>(children_.size()) - 1;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(ends[1], STDOUT_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[0]);
  ::close(ends[1]);
  for (const Child& sibling : children_) ::close(sibling.output);
  children_.clear();
  return -1;
}

inline void Processes::leave(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

inline void Processes::send(int child, int signal) const {
  const Child& to = children_[static_cast<std::size_t>(child)];
  if (to.running) ::kill(to.pid, signal);
}

inline void Processes::read_output(Child& child) {
  char text[4096];
  for (ssize_t size = 0; (size = ::read(child.output, text, sizeof text)) > 0;)
    child.end.text.append(text, static_cast<std::size_t>(size));
}

inline bool Processes::look_after() {
  bool running = false;
  for (Child& child : children_) {
    if (!child.running) continue;
    int status = 0;
    const bool ended = ::waitpid(child.pid, &status, WNOHANG) == child.pid;
    read_output(child);
    running |= !ended;
    if (!ended) continue;
    child.running = false;
    ::close(child.output);
    child.end.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  return running;
}

inline std::vector<End> Processes::join_all(Duration most) {
  if (!eventually(clock_, most, [this] { return !look_after(); })) {
    for (Child& child : children_) {
      if (!child.running) continue;
      child.end.overdue = true;
      ::kill(child.pid, SIGKILL);
    }
    while (look_after()) pause_a_little();
  }
  std::vector<End> ends;
  for (Child& child : children_) ends.push_back(std::move(child.end));
  children_.clear();
  return ends;
}

inline void Processes::expect_well(Duration most) {
  const std::vector<End> ends = join_all(most);
  for (std::size_t i = 0; i < ends.size(); ++i)
    EXPECT_TRUE(ends[i].well()) << "child " << i << " ended with " << ends[i].code
                                << (ends[i].overdue ? ", killed when its time was up" : "") << ":\n"
                                << ends[i].text;
}

}  // namespace hocket::testing
