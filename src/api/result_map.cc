// SPDX-License-Identifier: Apache-2.0
#include "api/result_map.h"

#include <array>
#include <string>

namespace hocket::api {
namespace {

thread_local std::string last_error_text;
thread_local const char* last_error_literal = nullptr;  // instead, if not null

}  // namespace

hocket_result to_c(Code code) {
  static constexpr std::array<hocket_result, kCodes> kResults = {
      HOCKET_INVALID_ARGUMENT,  // invalid_argument
      HOCKET_INVALID_USAGE,     // invalid_usage
      HOCKET_MISMATCH,          // mismatch
      HOCKET_TIMEOUT,           // timeout
      HOCKET_ABORTED,           // cancelled: never leaves the engine alone
      HOCKET_ABORTED,           // aborted
      HOCKET_PEER_LOST,         // peer_lost
      HOCKET_PEER_LOST,         // maybe_delivered
      HOCKET_OUT_OF_MEMORY,     // out_of_memory
      HOCKET_UNSUPPORTED,       // unsupported
      HOCKET_SYSTEM_ERROR,      // system
  };
  return kResults[static_cast<std::size_t>(code)];
}

hocket_result fail(const Error& error) {
  last_error_literal = error.literal();
  if (last_error_literal == nullptr) last_error_text = error.text();
  return to_c(error.code());
}

hocket_result to_c(const Result<void>& result) {
  return result ? HOCKET_SUCCESS : fail(result.error());
}

const char* last_error() {
  return last_error_literal != nullptr ? last_error_literal : last_error_text.c_str();
}

}  // namespace hocket::api
