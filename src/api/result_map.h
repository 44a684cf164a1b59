// SPDX-License-Identifier: Apache-2.0
// Errors at the C border: one table from Code to hocket_result, and the text of a thread's last
// failure. Threads: each its own text. Cost: only failing calls pay.
#pragma once
#include "base/result.h"
#include "hocket/hocket.h"

namespace hocket::api {

hocket_result to_c(Code code);
/// Keeps the text for hocket_last_error() and returns the code.
hocket_result fail(const Error& error);
hocket_result to_c(const Result<void>& result);
const char* last_error();

}  // namespace hocket::api
