// SPDX-License-Identifier: Apache-2.0
#include "host/progress_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <string>

#include "base/word.h"
#include "host/clock.h"
#include "host/doorbell.h"

namespace hocket::host {
namespace {

/// Serves as engine::Process does: looks, takes a ticket, looks again, sleeps until rung.
class Service {
 public:
  void serve() {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    name_ = name;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    blocks_interrupts_ = sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGTERM) == 1;
    while (stopped_.load() == 0) {
      const std::uint32_t ticket = bell_.ticket();
      served_.store(asked_.load());
      answer_.ring();
      if (stopped_.load() == 0) bell_.wait(ticket, seconds(1));
    }
  }
  void stop() {
    stopped_.store(1);
    bell_.ring();
  }
  void ask_and_wait() {
    const std::uint32_t mine = asked_.add(1);
    bell_.ring();
    while (served_.load() != mine) {
      const std::uint32_t ticket = answer_.ticket();
      if (served_.load() != mine) answer_.wait(ticket, kForever);
    }
  }
  const std::string& name() const { return name_; }
  bool blocks_interrupts() const { return blocks_interrupts_; }

 private:
  Doorbell bell_, answer_;
  Word asked_, served_, stopped_;
  std::string name_;
  bool blocks_interrupts_ = false;
};

TEST(ProgressThread, ServesUnderItsNameWithoutSignalsUntilItsEnd) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Service service;
  {
    ProgressThread thread(service);
    ASSERT_TRUE(thread.start());
    for (int i = 0; i < 100; ++i) service.ask_and_wait();
  }
  EXPECT_EQ(service.name(), "hocket");
  EXPECT_TRUE(service.blocks_interrupts());
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
}

TEST(ProgressThread, MayEndAtOnceOrNeverStart) {
  for (int i = 0; i < 100; ++i) {
    Service service;
    ProgressThread thread(service);
    ASSERT_TRUE(thread.start());
  }
  Service service;
  ProgressThread thread(service);
}

Duration cpu_time_of_this_process() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return Duration{std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec};
}

TEST(ProgressThread, CostsNothingWhileItSleeps) {
  Clock clock;
  Service service;
  ProgressThread thread(service);
  ASSERT_TRUE(thread.start());
  service.ask_and_wait();
  Doorbell unheard;
  const Duration before = cpu_time_of_this_process();
  const Instant start = clock.now();
  unheard.wait(unheard.ticket(), milliseconds(300));
  const Duration used{cpu_time_of_this_process().ns - before.ns};
  EXPECT_GE(clock.now() - start, milliseconds(300));
  EXPECT_LT(used, milliseconds(3));  // 1 %
}

TEST(ProgressThread, StopsPromptly) {
  Clock clock;
  Instant start;
  {
    Service service;
    ProgressThread thread(service);
    ASSERT_TRUE(thread.start());
    service.ask_and_wait();
    start = clock.now();
  }
  EXPECT_LT(clock.now() - start, milliseconds(500));  // it would sleep a second by itself
}

}  // namespace
}  // namespace hocket::host
