// SPDX-License-Identifier: Apache-2.0
// The bytes of messages under way, where payloads are real. They are numbered, so that a message is
// a plain value. Threads: one. Ownership: of the bytes, from keep to drop.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace hocket::sim {

class Parcels {
 public:
  using Number = std::uint32_t;
  static constexpr Number kNone = 0;

  /// A copy of what `source` has now.
  Number keep(ConstBytes source) {
    auto bytes = std::make_unique_for_overwrite<std::byte[]>(source.size);
    std::memcpy(bytes.get(), source.data, source.size);
    if (free_.empty()) free_.push_back(static_cast<Number>(kept_.size())), kept_.emplace_back();
    const Number number = free_.back();
    free_.pop_back();
    kept_[number] = std::move(bytes);
    return number;
  }
  /// Null for kNone.
  const std::byte* data(Number number) const { return kept_[number].get(); }
  void drop(Number number) {
    if (number == kNone) return;
    kept_[number].reset();
    free_.push_back(number);
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> kept_ = std::vector<std::unique_ptr<std::byte[]>>(1);
  std::vector<Number> free_;
};

}  // namespace hocket::sim
