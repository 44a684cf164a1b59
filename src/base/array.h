// SPDX-License-Identifier: Apache-2.0
// Items whose number a user decides: a vector that says no when there is no memory for one more,
// where std::vector would end the process. And a look ahead for whoever makes many small things,
// each of which would. Threads: one at a time. Ownership: owns its items. Failure: a false, and
// everything as it was; who tells of it says Error::no_memory().
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "base/check.h"

namespace hocket {

/// Whether so much memory could be had now; another thread may be faster.
inline bool is_memory_left(std::size_t bytes) {
  void* const probe = ::operator new(bytes, std::nothrow);
  ::operator delete(probe);
  return probe != nullptr;
}

template <class T>
class Array {
 public:
  Array() = default;
  Array(Array&& other) noexcept
      : items_(std::exchange(other.items_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Array() {
    clear();
    ::operator delete(items_, std::align_val_t{alignof(T)});
  }

  /// Has room for `count` items from then on.
  [[nodiscard]] bool reserve(std::size_t count) {
    if (count <= capacity_) return true;
    if (count > UINT32_MAX) return false;
    void* const memory =
        ::operator new(count * sizeof(T), std::align_val_t{alignof(T)}, std::nothrow);
    if (memory == nullptr) return false;
    T* const items = static_cast<T*>(memory);
    std::uninitialized_move(begin(), end(), items);
    std::destroy(begin(), end());
    ::operator delete(items_, std::align_val_t{alignof(T)});
    items_ = items;
    capacity_ = static_cast<std::uint32_t>(count);
    return true;
  }
  /// Moves from `item` if there is room for it, or can be.
  [[nodiscard]] bool push_back(T item) {
    if (size_ == capacity_ && !reserve(std::size_t{2} * capacity_ + 1)) return false;
    add(std::move(item));
    return true;
  }
  /// One for which there is room.
  T& add(T item = T()) {
    CHECK(size_ < capacity_, "an item was added for which no room was reserved");
    return *std::construct_at(items_ + size_++, std::move(item));
  }
  void clear() {
    std::destroy(begin(), end());
    size_ = 0;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return items_; }
  const T* data() const { return items_; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  T& back() { return items_[size_ - 1]; }
  const T& front() const { return items_[0]; }

 private:
  T* items_ = nullptr;
  std::uint32_t size_ = 0, capacity_ = 0;
};

}  // namespace hocket
