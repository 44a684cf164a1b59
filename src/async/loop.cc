// SPDX-License-Identifier: Apache-2.0
#include "async/loop.h"

namespace hocket {

bool Loop::deliver_all() {
  Mail* mail = mailbox_.take_all();
  while (mail != nullptr) {
    Mail& oldest = *mail;
    mail = oldest.next_mail;  // first: the mail may end in its own delivery
    oldest.delivered();
  }
  return true;
}

bool Loop::resume_all() {
  CHECK(running_.empty(), "a turn within a turn");
  running_.swap(ready_);
  for (const std::coroutine_handle<> handle : running_) handle.resume();
  running_.clear();
  return true;
}

}  // namespace hocket
