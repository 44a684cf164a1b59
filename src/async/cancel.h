// SPDX-License-Identifier: Apache-2.0
// Cooperative cancellation. Whoever starts work keeps a CancelSource and passes its token down;
// each wait below hangs a hook on it while it is suspended (wait.h), so that cancel() wakes all of
// them, oldest first, and they return Code::cancelled. Nothing is torn down from outside: a frame
// ends only by running to its end.
// Threads: one at a time, whoever holds the baton. Ownership: tokens borrow their source, which
// outlives them. Cost: a token is a pointer, a hook two; nothing is allocated.
#pragma once
#include "base/list.h"

namespace hocket {

/// What a source calls, once, when it is cancelled; `leave_list()` takes it off.
class CancelHook : public ListItem<CancelHook> {
 protected:
  ~CancelHook() = default;

 private:
  friend class CancelSource;
  /// The hook is off the source by now. May take other hooks off, and end its own life.
  virtual void cancelled() = 0;
};

class CancelSource {
 public:
  CancelSource() = default;
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;

  /// Calls all hooks, the oldest first. For good: a second call does nothing.
  void cancel();
  bool cancelled() const { return cancelled_; }

 private:
  friend class CancelToken;
  List<CancelHook> hooks_;
  bool cancelled_ = false;
};

/// The right to know. One without a source is never cancelled.
class CancelToken {
 public:
  CancelToken() = default;
  CancelToken(CancelSource& source) : source_(&source) {}  // NOLINT: passed as the token it is

  bool cancelled() const { return source_ != nullptr && source_->cancelled_; }
  /// Hangs the hook on the source. Not after cancel(): ask cancelled() first.
  void add(CancelHook& hook) const;

 private:
  CancelSource* source_ = nullptr;
};

}  // namespace hocket
