// SPDX-License-Identifier: Apache-2.0
// A communicator's rank on its GPU: its part of the domain and the executor over it. The ranks tell
// each other what they need by the communicator's own all_gathers on host memory.
//
// Threads: join from the one that creates the communicator, in its CUDA context; then any.
// Ownership: of both; borrows the communicator's world. Failure: join fails on all ranks if it does
// on one, naming it; it ends at the deadline. Cost: three small ops on host memory, and the memory
// of a mailbox.
#pragma once
#include <memory>

#include "api/runtime.h"
#include "device/cuda/member.h"
#include "engine/stream/executor.h"

struct hocket_comm;

namespace hocket::api {

class Domain {
 public:
  static Result<std::unique_ptr<Domain>> join(hocket_comm& comm, const world::Join& join);

  engine::stream::Executor& executor() { return executor_; }
  world::StreamDevice& device() { return *member_; }

 private:
  struct Private {};  // join() alone can name it

 public:
  Domain(Private, std::unique_ptr<cuda::Member> member,
         std::shared_ptr<const engine::Config> config, Rank me)
      : member_(std::move(member)), executor_(std::move(config), me, *member_) {}

 private:
  const std::unique_ptr<cuda::Member> member_;
  engine::stream::Executor executor_;
};

}  // namespace hocket::api
