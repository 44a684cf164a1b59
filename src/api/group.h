// SPDX-License-Identifier: Apache-2.0
// The open group of a thread: calls gather here between hocket_group_start and _end. Depth lives
// here and nowhere below. Threads: one group per thread. Failure: the first failing call is kept
// and returned by the outermost end; nothing of the group is submitted then. Cost: a thread keeps
// the memory of its largest group.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api/comm.h"

namespace hocket::api {

/// A communicator that an open group has calls of; it cannot be destroyed meanwhile.
class Grouped {
 public:
  Grouped() = default;
  explicit Grouped(hocket_comm& comm) : comm_(&comm) { comm.groups().add(1); }
  Grouped(Grouped&& other) noexcept : comm_(std::exchange(other.comm_, nullptr)) {}
  Grouped& operator=(Grouped&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~Grouped() {
    if (comm_ != nullptr) comm_->groups().add(~0u);
  }
  hocket_comm* get() const { return comm_; }
  hocket_comm* operator->() const { return comm_; }

 private:
  hocket_comm* comm_ = nullptr;
};

class Group {
 public:
  bool open() const { return depth_ > 0; }
  bool empty() const { return used_ == 0 && on_streams_.empty(); }
  void start() { ++depth_; }
  Result<void> add(hocket_comm& comm, const engine::Call& call);
  Result<void> add(hocket_comm& comm, const engine::Call& call, world::Stream stream);
  void fail(Error error);
  /// Leaves one level; at the outermost enqueues what goes on streams, in the order of the calls,
  /// and submits the rest into `request`; or nothing of it all. If a communicator has failed, its
  /// part is left out, and the failure is the request's, or returned if the request is empty.
  Result<void> end(hocket_request& request);

 private:
  Result<void> submit(hocket_request& request);
  struct Part {  // of one communicator, in the order of their first calls
    Grouped comm;
    Array<engine::Call> calls;
  };
  struct OnStream {
    Grouped comm;
    world::Stream stream;
    Array<engine::Call> calls;  // one, or all messages of the communicator
    bool has_messages() const;
    Result<engine::stream::Prepared> prepare() const;
  };
  using MaybePrepared = std::optional<engine::stream::Prepared>;  ///< not of what has failed
  static Result<std::vector<MaybePrepared>> prepare(std::span<const OnStream> calls,
                                                    hocket_request& request);

  std::uint32_t depth_ = 0;
  std::size_t used_ = 0;  // parts of this group; the others are kept for their memory
  Array<Part> parts_;
  Array<OnStream> on_streams_;
  std::optional<Error> error_;
};

/// This thread's.
Group& group();

}  // namespace hocket::api
