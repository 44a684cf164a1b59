// SPDX-License-Identifier: Apache-2.0
#include "api/comm.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

using hocket::Code;
using hocket::Error;
using hocket::Result;

namespace hocket::api {
namespace {

constexpr int kMostChannels = 64, kMostSlice = 1 << 30, kLeastSlice = 64;

struct Settings {  ///< the options of a communicator over those of the environment
  Duration init_timeout, op_timeout;
  std::uint32_t ranks_per_node = 0, slice_bytes = 0;
  std::uint16_t channels = 0;
  std::string algorithm;
};

Error refuse(const std::string& what) {
  return Error(Code::invalid_argument, "hocket_comm_create: " + what);
}

Result<hocket_options> read_options(const hocket_options* given) {
  hocket_options options = HOCKET_OPTIONS_INIT;
  if (given == nullptr) return options;
  if (given->size < sizeof(std::size_t) + sizeof(int) || given->size > 4096)
    return refuse("options.size is " + std::to_string(given->size) +
                  "; start from HOCKET_OPTIONS_INIT");
  std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  const struct {
    const char* name;
    int value, most;
  } numbers[] = {{"init_timeout_ms", options.init_timeout_ms, INT32_MAX},
                 {"op_timeout_ms", options.op_timeout_ms, INT32_MAX},
                 {"ranks_per_node", options.ranks_per_node, INT32_MAX},
                 {"channels", options.channels, kMostChannels},
                 {"slice_bytes", options.slice_bytes, kMostSlice}};
  for (const auto& [name, value, most] : numbers)
    if (value < 0 || value > most)
      return refuse(std::string("options.") + name + " is " + std::to_string(value) +
                    ", not 0 to " + std::to_string(most));
  if (options.slice_bytes > 0 && options.slice_bytes < kLeastSlice)
    return refuse("options.slice_bytes is " + std::to_string(options.slice_bytes) +
                  ", not 0 or at least " + std::to_string(kLeastSlice));
  return options;
}

}  // namespace
}  // namespace hocket::api
