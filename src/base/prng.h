// SPDX-License-Identifier: Apache-2.0
// A small seeded generator (splitmix64; Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", 2014): the same numbers from the same seed on every compiler, unlike the
// distributions of <random>. Not for secrets: those come from world/random.h. Threads: a value.
#pragma once
#include <cstdint>

namespace hocket {

class Prng {
 public:
  constexpr explicit Prng(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, n); n > 0. The bias of at most n / 2^64 does not matter to tests.
  constexpr std::uint64_t below(std::uint64_t n) { return next() % n; }

 private:
  std::uint64_t state_;
};

/// FNV-1a, by words: tells values apart that were not made to collide.
class Hash {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 1099511628211u; }
  template <class Bytes>
  void add_all(const Bytes& bytes) {
    for (const auto byte : bytes) add(static_cast<unsigned char>(byte));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

}  // namespace hocket
