// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "api/comm.h"

using hocket::Duration;
using hocket::Result;

Result<void> hocket_request::add(hocket_comm& comm, std::span<const hocket::engine::Call> calls) {
  if (!empty() && !more_.reserve(more_.size() + 1)) return hocket::Error::no_memory();
  TRY(hocket::engine::Op * op, comm.communicator().prepare(calls));
  if (empty()) {
    first_ = {&comm, op};
  } else {
    more_.add({&comm, op});
  }
  return hocket::kOk;
}

void hocket_request::discard() {
  each([](const Part& part) { part.comm->communicator().discard(*part.op); });
  *this = hocket_request();
}

void hocket_request::submit() {
  each([](const Part& part) { part.comm->communicator().commit(*part.op); });
}

void hocket_request::kick() {
  each([](const Part& part) { part.comm->process().kick(); });
}

bool hocket_request::test() {
  bool done = true;
  each([&](const Part& part) { done &= part.comm->process().test(*part.op); });
  return done;
}

bool hocket_request::wait(Duration most) {
  hocket::world::Clock& clock = first_.comm->runtime().clock();
  const hocket::Instant until = most == hocket::kForever ? hocket::kNever : clock.now() + most;
  if (!first_.comm->process().wait(*first_.op, most)) return false;
  for (const Part& part : more_) {
    const Duration left = most == hocket::kForever ? most : until - clock.now();
    if (!part.comm->process().wait(*part.op, left)) return false;
  }
  return true;
}

Result<void> hocket_request::finish() {
  Result<void> result;
  each([&](const Part& part) {
    Result<void> next = part.finish();
    if (result) result = std::move(next);
  });
  if (result && failure_) return failure_->clone();
  return result;
}

Result<void> hocket_request::Part::finish() const {
  const hocket::Error* const error = op->error();
  Result<void> result = error != nullptr ? Result<void>(error->clone()) : hocket::kOk;
  comm->communicator().release(*op);
  return result;
}
