// SPDX-License-Identifier: Apache-2.0
// Processes that a command starts. Whoever kills the command means them, too.
#pragma once
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace hocket::tools {

/// In a child of `parent`, first of all: it ends when its parent does.
inline void end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it already has
}

}  // namespace hocket::tools
