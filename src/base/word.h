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
  /// Sets these bits and returns the value with them.
  std::uint32_t set(std::uint32_t bits) {
    return value_.fetch_or(bits, std::memory_order_acq_rel) | bits;
  }
  /// Stores `next` if the value is `expected`; else fails and makes `expected` the value.
  bool replace(std::uint32_t& expected, std::uint32_t next) {
    return value_.compare_exchange_weak(expected, next, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint32_t> value_;
};

}  // namespace hocket
