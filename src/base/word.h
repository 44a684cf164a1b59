// SPDX-License-Identifier: Apache-2.0
// A 32-bit word that one thread publishes and others read: store releases, load acquires. The only
// form in which engine state crosses threads, besides Baton and Mailbox. Threads: all.
#pragma once
#include <atomic>
#include <cstdint>

namespace hocket {

class Word {
 public:
  constexpr explicit Word(std::uint32_t value = 0) : value_(value) {}
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  std::uint32_t load() const { return value_.load(std::memory_order_acquire); }
  void store(std::uint32_t value) { value_.store(value, std::memory_order_release); }
  /// Adds and returns the sum.
  std::uint32_t add(std::uint32_t n) { return value_.fetch_add(n, std::memory_order_acq_rel) + n; }

 private:
  std::atomic<std::uint32_t> value_;
};

}  // namespace hocket
