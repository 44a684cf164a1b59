// SPDX-License-Identifier: Apache-2.0
// The user's arguments, validated, as a call of the engine. Nothing below this file meets an enum
// out of range, a null pointer, a size that overflows, or memory that overlaps in a way that the
// collective does not define. Threads: pure. Failure: invalid_argument, naming call and value.
#pragma once
#include <cstddef>

#include "engine/work.h"
#include "hocket/hocket.h"

namespace hocket::api {

struct Arguments {  ///< enums as the numbers that they are: C may pass any
  int collective = HOCKET_BARRIER;
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;
  int type = HOCKET_UINT8;
  int op = HOCKET_SUM;
  int root = 0;  ///< or the peer of a send or receive
  bool sends = false;
};

/// For messages: "all_reduce", "send".
const char* name_of(const Arguments& arguments);
Result<engine::Call> make_call(const Arguments& arguments, Rank me, std::uint32_t world);
/// The part of it that explain needs: no memory, no root.
Result<Request> make_request(const Arguments& arguments, std::uint32_t world);

}  // namespace hocket::api
