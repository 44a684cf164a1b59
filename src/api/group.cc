// SPDX-License-Identifier: Apache-2.0
#include "api/group.h"

#include <span>
#include <utility>

namespace hocket::api {
namespace {

thread_local Group thread_group;

}  // namespace

Group& group() { return thread_group; }

void Group::add(hocket_comm& comm, const engine::Call& call) {
  std::size_t at = 0;
  while (at < used_ && parts_[at].comm != &comm) ++at;
  if (at == used_) {
    if (++used_ > parts_.size()) parts_.emplace_back();
    parts_[at].comm = &comm;
    parts_[at].calls.clear();
  }
  parts_[at].calls.push_back(call);
}

void Group::add(hocket_comm& comm, const engine::Call& call, world::Stream stream) {
  on_streams_.push_back({&comm, stream, call});
}

void Group::fail(Error error) {
  if (!error_) error_.emplace(std::move(error));
}

Result<void> Group::end(hocket_request& request) {
  if (depth_ == 0) return Error(Code::invalid_usage, "hocket_group_end without hocket_group_start");
  if (--depth_ > 0) return kOk;
  const std::span parts(parts_.data(), std::exchange(used_, 0));
  const std::vector<OnStream> on_streams = std::exchange(on_streams_, {});
  if (error_) return *std::exchange(error_, std::nullopt);
  std::vector<engine::stream::Actions> actions;
  for (const OnStream& one : on_streams) {
    TRY(engine::stream::Actions prepared, one.comm->prepare(one.call));
    actions.push_back(prepared);
  }
  for (const Part& part : parts) {
    Result<void> added = request.add(*part.comm, part.calls);
    if (added) continue;
    request.discard();
    return added;
  }
  request.submit();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    TRY_VOID(on_streams[i].comm->domain()->executor().enqueue(on_streams[i].stream, actions[i]));
  }
  return kOk;
}

}  // namespace hocket::api
