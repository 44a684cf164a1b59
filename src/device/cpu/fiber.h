// SPDX-License-Identifier: Apache-2.0
// A function with a stack of its own, that whoever resumes it and the function itself hand the
// processor back and forth between. It stands for a thread of a GPU in the interpreter: kernels are
// one text for two compilers, so they cannot be coroutines (docs/decisions/0006).
//
// ucontext makes the stack's first frame; switches are _setjmp and _longjmp, since swapcontext asks
// the kernel for the signal mask each time (20 times as slow). The page below the stack is not
// mapped: who overflows it is told so by a fault. AddressSanitizer is told of every switch.
//
// Threads: one. Ownership: owns its stack; a function that has not ended when its fiber is
// destroyed never goes on, and nothing on its stack is destroyed. Failure: no memory for a stack is
// a failed CHECK. Cost: 72 KiB of address space, three pages of memory; a switch is some 10 ns.
#pragma once
#include <csetjmp>
#include <cstddef>

namespace hocket::cpu {

class Fiber {
 public:
  using Body = void(void* argument);

  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Has `body(argument)` run from the next resume() on. Only when done().
  void start(Body& body, void* argument);
  /// Runs it until it suspends or ends.
  void resume();
  /// Called by what runs in the fiber: back to who resumed it.
  void suspend();
  bool done() const { return body_ == nullptr; }

 private:
  struct Stack {
    void* bottom = nullptr;
    std::size_t bytes = 0;
  };
  static void enter(unsigned low, unsigned high);  // of the fiber's address
  [[noreturn]] void loop();
  void first_entry();
  void leave(bool for_ever);

  std::jmp_buf inside_, outside_;  // where the one goes on when the other lets it
  Stack stack_, callers_;
  std::byte* mapping_ = nullptr;
  void* callers_fake_ = nullptr;  // AddressSanitizer's other stack
  Body* body_ = nullptr;
  void* argument_ = nullptr;
  bool entered_ = false, leaves_ = false;
};

}  // namespace hocket::cpu
