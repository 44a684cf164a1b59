// SPDX-License-Identifier: Apache-2.0
// Owns concurrent children and joins them: a scope may go only when none is running. The first
// child that fails is told to the owner, who cancels the siblings in its own way; how they wake is
// the business of what they wait for. Threads: one at a time. Ownership: of the children's frames;
// the owner outlives the scope. Failure: first error wins, later ones are dropped (they are its
// echoes). Cost: 24 bytes, nothing allocated.
#pragma once
#include <cstdint>

#include "async/task.h"

namespace hocket {

class Scope {
 public:
  class Owner {
   public:
    /// A child failed, the first one in the scope's life; others may still be running.
    virtual void child_failed(Error error) = 0;
    /// The last running child has ended. May be told again after further spawns. The scope may be
    /// destroyed inside this call.
    virtual void children_ended() = 0;

   protected:
    ~Owner() = default;
  };

  explicit Scope(Owner& owner) : owner_(owner) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { CHECK(running_ == 0, "a scope ended before its children"); }

  /// Starts the child at once and runs it until it first suspends.
  void spawn(Task<void> child);
  std::uint32_t running() const { return running_; }

  /// Keeps the scope from ending while the owner spawns or cancels: children_ended comes after the
  /// last release. Pairs nest.
  void hold() { ++running_; }
  void release();

 private:
  friend void internal::scope_child_ended(Scope& scope, Result<void> result);
  Owner& owner_;
  std::uint32_t running_ = 0;
  bool failed_ = false;
};

}  // namespace hocket
