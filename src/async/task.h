// SPDX-License-Identifier: Apache-2.0
// A lazy coroutine that yields Result<T>. It is awaited once, or given to a Scope (scope.h); there
// are no detached tasks. Frames come from an Arena when the coroutine's first parameter (or the
// object it is a member of) has one: `Arena& arena()`; else from the heap.
//
// There is no symmetric transfer: g++ 12 makes it a tail call only at -O2, and a million
// synchronous awaits would overflow the stack elsewhere. await_suspend runs the child and returns
// false when it has already finished, so the parent goes on inline (docs/STYLE.md, coroutines).
// Threads: one at a time; a task may move between threads only while suspended.
// Ownership: a Task owns its frame until it is awaited to the end or spawned.
// Failure: a task's Error is its result; there are no exceptions.
#pragma once
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/base.h"

namespace hocket {

class Scope;

namespace internal {

struct alignas(16) FrameHeader {
  Arena* arena;  // null: the heap
  std::size_t size;
};
void* take_frame(std::size_t size, Arena* arena);
void give_frame(void* frame);

template <class First>
concept HasArena = requires(First& first) {
  { first.arena() } -> std::same_as<Arena&>;
};

struct PromiseBase {
  std::coroutine_handle<> parent;  // resumed at the end, unless the task ended inside its start
  Scope* scope = nullptr;          // set by Scope::spawn, which then owns the frame
  bool starting = true, done = false;

  static void* operator new(std::size_t size) { return take_frame(size, nullptr); }
  template <class First, class... Rest>
  static void* operator new(std::size_t size, First& first, Rest&...) {
    if constexpr (HasArena<First>) {
      return take_frame(size, &first.arena());
    } else {
      return take_frame(size, nullptr);
    }
  }
  static void operator delete(void* frame) { give_frame(frame); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  [[noreturn]] void unhandled_exception() { check_failed("no exception", "in a task", "", 0); }
};

/// Tells the scope that a child ended with `result`; the child's frame is gone by then.
void scope_child_ended(Scope& scope, Result<void> result);

}  // namespace internal

template <class T = void>
class [[nodiscard]] Task {
 public:
  struct promise_type : internal::PromiseBase {
    std::optional<Result<T>> result;

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    void return_value(Result<T> r) { result.emplace(std::move(r)); }

    struct Final {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        promise_type& p = self.promise();
        p.done = true;
        if (p.scope != nullptr) return end_child(self);
        if (!p.starting) p.parent.resume();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> parent) {
    promise_type& p = handle_.promise();
    p.parent = parent;
    handle_.resume();
    p.starting = false;
    return !p.done;
  }
  Result<T> await_resume() { return std::move(*handle_.promise().result); }

  /// Runs the task until it first suspends; for whoever is no coroutine. It has no parent, so it
  /// stays `starting` for good.
  void start() { handle_.resume(); }
  /// The result, once the task has ended; null before.
  Result<T>* result() { return handle_.promise().done ? &*handle_.promise().result : nullptr; }

 private:
  friend class Scope;
  explicit Task(Handle handle) : handle_(handle) {}
  static void end_child(Handle self) noexcept {
    promise_type& p = self.promise();
    Scope& scope = *p.scope;
    if constexpr (std::is_void_v<T>) {
      Result<void> result = std::move(*p.result);
      self.destroy();
      internal::scope_child_ended(scope, std::move(result));
    }
  }
  Handle handle_;
};

}  // namespace hocket
