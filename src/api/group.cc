// SPDX-License-Identifier: Apache-2.0
#include "api/group.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace hocket::api {
namespace {

thread_local Group thread_group;

/// Whether that error is the communicator's; then it is the request's, too.
bool has_failed(hocket_comm& comm, const Error& error, hocket_request& request) {
  if (!comm.communicator().failure()) return false;
  request.fail(error);
  return true;
}

}  // namespace

Group& group() { return thread_group; }

Result<void> Group::add(hocket_comm& comm, const engine::Call& call) {
  std::size_t at = 0;
  while (at < used_ && parts_[at].comm.get() != &comm) ++at;
  if (at == used_) {
    if (at == parts_.size() && !parts_.push_back(Part())) return Error::no_memory();
    parts_[at].comm = Grouped(comm);
    parts_[at].calls.clear();
    ++used_;
  }
  if (!parts_[at].calls.push_back(call)) return Error::no_memory();
  return kOk;
}

Result<void> Group::add(hocket_comm& comm, const engine::Call& call, world::Stream stream) {
  OnStream own{Grouped(comm), stream, {}};
  if (!own.calls.push_back(call)) return Error::no_memory();
  const auto messages =
      std::find_if(on_streams_.begin(), on_streams_.end(), [&](const OnStream& other) {
        return own.has_messages() && other.has_messages() && other.comm.get() == &comm;
      });
  if (messages == on_streams_.end()) {
    if (!on_streams_.push_back(std::move(own))) return Error::no_memory();
    return kOk;
  }
  if (messages->stream.handle != stream.handle)
    return Error(Code::invalid_usage,
                 "a group's sends and receives of one communicator are on two streams");
  if (!messages->calls.push_back(call)) return Error::no_memory();
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

Result<std::vector<Group::MaybePrepared>> Group::prepare(std::span<const OnStream> calls,
                                                         hocket_request& request) {
  std::vector<MaybePrepared> all;
  for (const OnStream& call : calls) {
    Result<engine::stream::Prepared> prepared = call.prepare();
    if (prepared) {
      all.emplace_back(*std::move(prepared));
    } else if (has_failed(*call.comm.get(), prepared.error(), request)) {
      all.emplace_back();
    } else {
      return std::move(prepared).error();
    }
  }
  return all;
}

Result<void> Group::end(hocket_request& request) {
  if (depth_ == 0) return Error(Code::invalid_usage, "hocket_group_end without hocket_group_start");
  if (--depth_ > 0) return kOk;
  std::optional<Error> refused = std::exchange(error_, std::nullopt);
  Result<void> ended = refused ? *std::move(refused) : submit(request);
  for (; used_ > 0; --used_) parts_[used_ - 1].comm = Grouped();
  on_streams_.clear();
  return ended;
}

// A communicator that has failed fails its part alone: ranks notice failures at their own times,
// and those of the others count on this rank's ops.
Result<void> Group::submit(hocket_request& request) {
  TRY(const std::vector<MaybePrepared> prepared, prepare(on_streams_, request));
  for (const Part& part : std::span(parts_.data(), used_)) {
    hocket_comm& comm = *part.comm.get();
    Result<void> added = request.add(comm, part.calls);
    if (added || has_failed(comm, added.error(), request)) continue;
    request.discard();
    return added;
  }
  request.submit();
  for (std::size_t i = 0; i < on_streams_.size(); ++i) {
    if (!prepared[i]) continue;
    engine::stream::Executor& executor = on_streams_[i].comm->domain()->executor();
    const Result<void> enqueued = executor.enqueue(on_streams_[i].stream, *prepared[i]);
    if (!enqueued) request.fail(enqueued.error());
  }
  return request.empty() ? request.finish() : kOk;
}

}  // namespace hocket::api
