// SPDX-License-Identifier: Apache-2.0
// The one thread that Hocket adds to a process. It runs served.serve(), which drives what no caller
// drives and sleeps otherwise (engine/process.h), until served.stop() makes that return. It is
// named `hocket`, takes none of the program's signals, and naps to the microsecond. Threads: start
// and end from one. Ownership: borrows what it serves, which outlives it; its own end stops and
// joins. Failure: start fails with system when the kernel gives no thread.
#pragma once
#include <pthread.h>

#include "base/result.h"

namespace hocket::host {

class ProgressThread {
 public:
  /// Served: void serve(), void stop(); serve() returns soon after stop(), also one made before.
  template <class Served>
  explicit ProgressThread(Served& served)
      : served_(&served),
        serve_([](void* s) { static_cast<Served*>(s)->serve(); }),
        stop_([](void* s) { static_cast<Served*>(s)->stop(); }) {}
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// Once.
  Result<void> start();

 private:
  static void* run(void* self);

  void* const served_;
  void (*const serve_)(void*);
  void (*const stop_)(void*);
  pthread_t thread_{};
  bool started_ = false;
};

}  // namespace hocket::host
