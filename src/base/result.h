// SPDX-License-Identifier: Apache-2.0
// A value or an Error. The methods are named like std::expected's, which g++ 12 has only at C++23;
// unlike that one an ignored Result warns. Four macros propagate: TRY and TRY_VOID in functions,
// CO_TRY and CO_TRY_VOID in coroutines (there `expression` is awaited); each expands to plain
// statements, the only co_await forms that g++ 12 compiles right (docs/STYLE.md).
#pragma once
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace hocket {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit, so that `return v` reads
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: the same for `return Error(...)`
  Result(Result&&) = default;
  Result& operator=(Result&&) = default;

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }
  T& value() & { return *checked(); }
  const T& value() const& { return *checked(); }
  T&& value() && { return std::move(*checked()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() & { return *failed(); }
  const Error& error() const& { return *failed(); }
  Error&& error() && { return std::move(*failed()); }

 private:
  T* checked() {
    CHECK(value_.has_value(), "value() of a Result that holds an Error");
    return &*value_;
  }
  const T* checked() const {
    CHECK(value_.has_value(), "value() of a Result that holds an Error");
    return &*value_;
  }
  Error* failed() {
    CHECK(!value_.has_value(), "error() of a Result that holds a value");
    return &error_;
  }
  const Error* failed() const {
    CHECK(!value_.has_value(), "error() of a Result that holds a value");
    return &error_;
  }
  std::optional<T> value_;
  Error error_;
};

struct Ok {};
/// What a function or coroutine without a value returns: `co_return kOk;`.
inline constexpr Ok kOk;

template <>
class [[nodiscard]] Result<void> {
 public:
  Result(Ok = kOk) {}                                // NOLINT: implicit, so that `return kOk` reads
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit, as above
  Result(Result&&) = default;
  Result& operator=(Result&&) = default;

  bool has_value() const { return error_.detail_ == nullptr; }
  explicit operator bool() const { return has_value(); }
  Error& error() & { return *failed(); }
  const Error& error() const& { return *const_cast<Result*>(this)->failed(); }
  Error&& error() && { return std::move(*failed()); }

 private:
  Error* failed() {
    CHECK(!has_value(), "error() of a Result without one");
    return &error_;
  }
  Error error_;
};

}  // namespace hocket

#define HOCKET_JOIN_INNER(a, b) a##b
#define HOCKET_JOIN(a, b) HOCKET_JOIN_INNER(a, b)
#define HOCKET_TRY(temporary, leave, declaration, ...) \
  auto temporary = __VA_ARGS__;                        \
  if (!temporary) [[unlikely]]                         \
    leave std::move(temporary).error();                \
  declaration = std::move(temporary).value()
#define HOCKET_TRY_VOID(temporary, leave, ...) \
  auto temporary = __VA_ARGS__;                \
  if (!temporary) [[unlikely]]                 \
  leave std::move(temporary).error()

/// TRY(auto x, f()): x is f's value, or this function returns f's error.
#define TRY(declaration, ...) \
  HOCKET_TRY(HOCKET_JOIN(try_, __COUNTER__), return, declaration, __VA_ARGS__)
#define TRY_VOID(...) HOCKET_TRY_VOID(HOCKET_JOIN(try_, __COUNTER__), return, __VA_ARGS__)
#define CO_TRY(declaration, ...) \
  HOCKET_TRY(HOCKET_JOIN(try_, __COUNTER__), co_return, declaration, co_await __VA_ARGS__)
#define CO_TRY_VOID(...) \
  HOCKET_TRY_VOID(HOCKET_JOIN(try_, __COUNTER__), co_return, co_await __VA_ARGS__)
