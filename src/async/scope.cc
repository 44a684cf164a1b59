// SPDX-License-Identifier: Apache-2.0
#include "async/scope.h"

namespace hocket {

void Scope::spawn(Task<void> child) {
  Task<void>::Handle handle = std::exchange(child.handle_, nullptr);
  handle.promise().scope = this;
  ++running_;
  handle.resume();  // may end and free the frame
}

void Scope::release() {
  CHECK(running_ > 0, "release without hold");
  if (--running_ == 0) owner_.children_ended();
}

namespace internal {

void scope_child_ended(Scope& scope, Result<void> result) {
  if (!result && !scope.failed_) {
    scope.failed_ = true;
    scope.owner_.child_failed(std::move(result).error());
  }
  scope.release();
}

}  // namespace internal
}  // namespace hocket
