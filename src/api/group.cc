// SPDX-License-Identifier: Apache-2.0
#include "api/group.h"

#include <algorithm>
#include <utility>

namespace hocket::api {
namespace {

thread_local Group thread_group;

}  // namespace

Group& group() { return thread_group; }

void Group::add(hocket_comm& comm, const engine::Call& call) {
  const auto same = [&](const Part& part) { return part.comm == &comm; };
  auto part = std::find_if(parts_.begin(), parts_.end(), same);
  if (part == parts_.end()) part = parts_.insert(part, Part{&comm, {}});
  part->calls.push_back(call);
}

void Group::fail(Error error) {
  if (!error_) error_.emplace(std::move(error));
}

Result<void> Group::end(hocket_request& request) {
  if (depth_ == 0) return Error(Code::invalid_usage, "hocket_group_end without hocket_group_start");
  if (--depth_ > 0) return kOk;
  const std::vector<Part> parts = std::exchange(parts_, {});
  if (error_) return *std::exchange(error_, std::nullopt);
  for (const Part& part : parts) {
    Result<void> added = request.add(*part.comm, part.calls);
    if (added) continue;
    request.discard();
    return added;
  }
  request.submit();
  return kOk;
}

}  // namespace hocket::api
