// SPDX-License-Identifier: Apache-2.0
#include "host/progress_thread.h"

#include <signal.h>
#include <sys/prctl.h>

#include <system_error>

namespace hocket::host {

ProgressThread::~ProgressThread() {
  if (!started_) return;
  stop_(served_);
  pthread_join(thread_, nullptr);
}

Result<void> ProgressThread::start() {
  CHECK(!started_, "a progress thread starts once");
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it
  const int failed = pthread_create(&thread_, nullptr, run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0)
    return Error(Code::system, "no progress thread: " + std::generic_category().message(failed));
  started_ = true;
  return kOk;
}

void* ProgressThread::run(void* self) {
  constexpr unsigned long kTimerSlackNs = 1'000;
  pthread_setname_np(pthread_self(), "hocket");
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  const ProgressThread& thread = *static_cast<ProgressThread*>(self);
  thread.serve_(thread.served_);
  return nullptr;
}

}  // namespace hocket::host
