// SPDX-License-Identifier: Apache-2.0
// What a hocket_comm and a hocket_request are. A communicator of the C interface is one rank's: its
// endpoint and its engine. A request is the ops that one call or group became, one per
// communicator. Threads: all. Ownership: the user's handles own these objects; a request ends
// before its communicators. Failure: see each function; nothing here prints.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "api/domain.h"
#include "api/recorder.h"
#include "api/runtime.h"
#include "base/array.h"
#include "base/word.h"
#include "hocket/hocket.h"

namespace hocket::api {

struct CommArguments {
  int world = 0, rank = 0;
  const hocket_id* id = nullptr;
  const hocket_options* options = nullptr;
};

}  // namespace hocket::api

struct hocket_comm {
 public:
  static hocket::Result<std::unique_ptr<hocket_comm>> create(
      hocket::api::Runtime& runtime, const hocket::api::CommArguments& arguments);
  ~hocket_comm();

  hocket::Rank rank() const { return communicator_->me(); }
  std::uint32_t size() const { return communicator_->size(); }
  hocket::engine::Communicator& communicator() { return *communicator_; }
  hocket::api::Runtime& runtime() { return runtime_; }
  hocket::engine::Process& process() { return runtime_.process(); }
  /// Null unless it was created for ops on streams.
  hocket::api::Domain* domain() const { return domain_.get(); }
  /// A call for a stream; its failure, or the communicator's.
  hocket::Result<hocket::engine::stream::Prepared> prepare(const hocket::engine::Call& call) const;
  /// The same of a group's sends and receives.
  hocket::Result<hocket::engine::stream::Prepared> prepare(
      std::span<const hocket::engine::Call> messages) const;
  /// Open groups that have calls of it.
  hocket::Word& groups() { return groups_; }

 private:
  struct Private {};  // create() alone can name it

 public:
  hocket_comm(Private, hocket::api::Runtime& runtime,
              std::unique_ptr<hocket::world::Endpoint> endpoint,
              std::shared_ptr<const hocket::engine::Config> config, hocket::Rank me);

 private:
  hocket::api::Runtime& runtime_;
  hocket::api::Recorder recorder_;
  std::unique_ptr<hocket::world::Endpoint> endpoint_;
  std::unique_ptr<hocket::engine::Communicator> communicator_;
  std::unique_ptr<hocket::api::Domain> domain_;
  hocket::Word groups_;
};

struct hocket_request {
 public:
  /// Adds an op made of the calls that belong to one communicator; nothing happens yet.
  hocket::Result<void> add(hocket_comm& comm, std::span<const hocket::engine::Call> calls);
  /// Of a communicator that has failed, to be told in the end; what was added goes on.
  void fail(const hocket::Error& failure) {
    if (!failure_) failure_.emplace(failure.clone());
  }
  /// Gives back what was added; empty again.
  void discard();
  bool empty() const { return first_.op == nullptr; }
  /// Submits all that was added. From then on it has to be waited for, or tested, to its end.
  void submit();
  /// Lets the ops begin, if nobody is about to wait for them.
  void kick();
  bool test();
  /// False: `most` passed first.
  bool wait(hocket::Duration most);
  /// Once done: gives the ops back; the first failure, in the order of communicators.
  hocket::Result<void> finish();

 private:
  struct Part {
    hocket_comm* comm = nullptr;
    hocket::engine::Op* op = nullptr;
    hocket::Result<void> finish() const;
  };
  template <class Action>
  void each(Action action) const {
    if (!empty()) action(first_);
    for (const Part& part : more_) action(part);
  }
  std::optional<hocket::Error> failure_;
  Part first_;  // nearly always the only one: a blocking call allocates nothing
  hocket::Array<Part> more_;
};
