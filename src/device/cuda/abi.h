// SPDX-License-Identifier: Apache-2.0
// The few types and constants of CUDA's driver interface that Hocket uses, so that it builds where
// no CUDA is installed. Values as in cuda.h (driver_test.cc compares them where that is found). A
// handle is a pointer to the very structure that cuda.h names: a user's CUstream is a Stream.
//
// Threads, ownership: values.
#pragma once
#include <cstdint>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

namespace hocket::cuda {

using Device = int;
using Address = unsigned long long;  ///< of device memory
using Context = CUctx_st*;
using ModuleHandle = CUmod_st*;
using Function = CUfunc_st*;
using Stream = CUstream_st*;
using Event = CUevent_st*;
using Graph = CUgraph_st*;
using GraphExec = CUgraphExec_st*;
/// By which another process maps memory of this one.
struct IpcHandle {
  char bytes[64] = {};
};

/// A CUresult. The others are known by number and by what the driver calls them.
enum class Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  stub_library = 34,
  no_device = 100,
  no_binary_for_gpu = 209,
  unsupported_ptx_version = 222,
  not_ready = 600,
  peer_access_already_enabled = 704,
  not_supported = 801,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  compat_not_supported_on_device = 804,
};

enum class Attribute : int { multiprocessors = 16, major = 75, minor = 76 };

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kWaitEqual = 1;
inline constexpr unsigned kHostPortable = 1, kHostMapped = 2;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kIpcLazyPeerAccess = 1;
/// Of a stream: whether what is enqueued becomes part of a graph.
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };

}  // namespace hocket::cuda
