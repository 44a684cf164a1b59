// SPDX-License-Identifier: Apache-2.0
#include "async/wait.h"

#include <string>

namespace hocket {

void Wait::await_suspend(std::coroutine_handle<> handle) {
  handle_ = handle;
  waits_.push_back(*this);
  until_.token.add(*this);
  loop_.add(*this, until_.deadline);
}

bool Wait::cancelled_early() {
  if (!until_.token.cancelled()) return false;
  outcome_ = Outcome::cancelled;
  return true;
}

Result<void> Wait::outcome() const {
  switch (outcome_) {
    case Outcome::timeout:
      return Error(Code::timeout, std::string("waited for ") + until_.what);
    case Outcome::cancelled:
      return Error(Code::cancelled, std::string("gave up waiting for ") + until_.what);
    case Outcome::granted:
      break;
  }
  return kOk;
}

void Wait::end(Outcome outcome) {
  outcome_ = outcome;
  ListItem<Wait>::leave_list();
  CancelHook::leave_list();
  loop_.remove(*this);
  loop_.post(handle_);
}

}  // namespace hocket
