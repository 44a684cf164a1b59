// SPDX-License-Identifier: Apache-2.0
// The one global of Hocket: the runtime of this process, made with the first communicator and gone
// with the last one, so that a program without communicators has no thread of ours. Threads: all.
// Failure: create_comm fails as communicators do, or because of the environment.
#pragma once
#include <memory>
#include <string>

#include "api/comm.h"

namespace hocket::api {

Result<std::unique_ptr<hocket_comm>> create_comm(const CommArguments& arguments);
void destroy_comm(std::unique_ptr<hocket_comm> comm);
/// Random bytes behind a public head.
Result<void> make_id(hocket_id& id);
/// This process is a child of one that had communicators.
bool forked();

}  // namespace hocket::api
