// SPDX-License-Identifier: Apache-2.0
// Its _longjmp goes to a frame that is not below, which a fortified one takes for a mistake.
#undef _FORTIFY_SOURCE
#include "device/cpu/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <memory>

#include "base/check.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HOCKET_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HOCKET_ASAN 1
#endif
#ifdef HOCKET_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace hocket::cpu {
namespace {

constexpr std::size_t kPage = 4096;
#ifdef HOCKET_ASAN
constexpr std::size_t kStack = 256 << 10;  // its frames are larger

void begin_switch(void** own_fake, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(own_fake, bottom, bytes);
}
void end_switch(void* own_fake, const void** from_bottom, std::size_t* from_bytes) {
  __sanitizer_finish_switch_fiber(own_fake, from_bottom, from_bytes);
}
#else
constexpr std::size_t kStack = 64 << 10;

void begin_switch(void**, const void*, std::size_t) {}
void end_switch(void*, const void**, std::size_t*) {}
#endif
constexpr std::size_t kMapping =
    kPage + kStack + kPage;  // guard, stack, context of the first entry
static_assert(sizeof(ucontext_t) <= kPage);

}  // namespace

Fiber::Fiber() {
  void* const memory = ::mmap(nullptr, kMapping, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  CHECK(memory != MAP_FAILED, "no memory for the stack of a fiber");
  mapping_ = static_cast<std::byte*>(memory);
  CHECK(::mprotect(mapping_, kPage, PROT_NONE) == 0, "cannot guard the stack of a fiber");
  stack_ = {mapping_ + kPage, kStack};
}

Fiber::~Fiber() {
  if (entered_ && done()) {
    leaves_ = true;
    resume();
  }
#ifdef HOCKET_ASAN
  __asan_unpoison_memory_region(stack_.bottom, stack_.bytes);
#endif
  ::munmap(mapping_, kMapping);
}

void Fiber::start(Body& body, void* argument) {
  CHECK(done(), "a fiber is given one function at a time");
  body_ = &body;
  argument_ = argument;
}

void Fiber::resume() {
  void* fake = nullptr;
  begin_switch(&fake, stack_.bottom, stack_.bytes);
  if (_setjmp(outside_) == 0) {
    if (entered_) _longjmp(inside_, 1);
    first_entry();
  }
  end_switch(fake, nullptr, nullptr);
}

void Fiber::suspend() { leave(false); }

void Fiber::leave(bool for_ever) {
  void* fake = nullptr;
  begin_switch(for_ever ? nullptr : &fake, callers_.bottom, callers_.bytes);
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
  const void* bottom = nullptr;
  end_switch(fake, &bottom, &callers_.bytes);
  callers_.bottom = const_cast<void*>(bottom);
}

void Fiber::first_entry() {
  entered_ = true;
  // Not in this frame, which never returns and would leave its shadow behind: atop the new stack.
  auto& context = *std::construct_at(reinterpret_cast<ucontext_t*>(mapping_ + kPage + kStack));
  CHECK(::getcontext(&context) == 0, "no context for a fiber");
  context.uc_stack.ss_sp = stack_.bottom;
  context.uc_stack.ss_size = stack_.bytes;
  context.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&context, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
                static_cast<unsigned>(self), static_cast<unsigned>(std::uint64_t{self} >> 32));
  ::setcontext(&context);
}

void Fiber::enter(unsigned low, unsigned high) {
  const std::uint64_t self = std::uint64_t{high} << 32 | low;
  reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(self))->loop();
}

void Fiber::loop() {
  const void* bottom = nullptr;
  end_switch(nullptr, &bottom, &callers_.bytes);
  callers_.bottom = const_cast<void*>(bottom);
  while (!leaves_) {
    body_(argument_);
    body_ = nullptr;
    leave(false);
  }
  leave(true);
  CHECK(false, "a fiber that has left for ever goes on");
  __builtin_unreachable();
}

}  // namespace hocket::cpu
