// SPDX-License-Identifier: Apache-2.0
#include "async/cancel.h"

namespace hocket {

void CancelSource::cancel() {
  cancelled_ = true;
  while (CancelHook* const hook = hooks_.front()) {
    hook->leave_list();
    hook->cancelled();
  }
}

void CancelToken::add(CancelHook& hook) const {
  if (source_ == nullptr) return;
  CHECK(!source_->cancelled_, "a hook on a source that is cancelled would never be called");
  source_->hooks_.push_back(hook);
}

}  // namespace hocket
