// SPDX-License-Identifier: Apache-2.0
#include "api/group.h"

#include <algorithm>
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

Result<void> Group::add(hocket_comm& comm, const engine::Call& call, world::Stream stream) {
  const OnStream own{&comm, stream, {call}};
  const auto messages =
      std::find_if(on_streams_.begin(), on_streams_.end(), [&](const OnStream& other) {
        return own.has_messages() && other.has_messages() && other.comm == &comm;
      });
  if (messages == on_streams_.end()) {
    on_streams_.push_back(own);
    return kOk;
  }
  if (messages->stream.handle != stream.handle)
    return Error(Code::invalid_usage,
                 "a group's sends and receives of one communicator are on two streams");
  messages->calls.push_back(call);
  return kOk;
}

bool Group::OnStream::has_messages() const {
  return calls.front().request.collective == Collective::send_recv;
}

Result<engine::stream::Prepared> Group::OnStream::prepare() const {
  return has_messages() ? comm->prepare(std::span(calls)) : comm->prepare(calls.front());
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
  std::vector<engine::stream::Prepared> prepared;
  for (const OnStream& one : on_streams) {
    TRY(engine::stream::Prepared own, one.prepare());
    prepared.push_back(std::move(own));
  }
  for (const Part& part : parts) {
    Result<void> added = request.add(*part.comm, part.calls);
    if (added) continue;
    request.discard();
    return added;
  }
  request.submit();
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    TRY_VOID(on_streams[i].comm->domain()->executor().enqueue(on_streams[i].stream, prepared[i]));
  }
  return kOk;
}

}  // namespace hocket::api
