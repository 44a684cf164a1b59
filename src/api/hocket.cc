// SPDX-License-Identifier: Apache-2.0
// The C functions: check the handle, validate, submit, translate. Everything else is elsewhere.
#include "hocket/hocket.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "api/call.h"
#include "api/comm.h"
#include "api/explain.h"
#include "api/group.h"
#include "api/process.h"
#include "api/result_map.h"

using namespace hocket;       // NOLINT: this file is the border
using namespace hocket::api;  // NOLINT

namespace {

/// "CALL: what".
Error refuse(Code code, const char* call, const std::string& what) {
  return Error(code, std::string(call) + ": " + what);
}
Error null(const char* call, const char* what) {
  return refuse(Code::invalid_argument, call, std::string(what) + " is null");
}

Result<void> usable(const hocket_comm* comm, const char* call) {
  if (comm == nullptr) return null(call, "the communicator");
  if (!forked()) return kOk;
  return refuse(Code::invalid_usage, call,
                "the communicator belongs to the parent of this process");
}

/// Where the ops of a call or group gather: what the user will hold, if there is to be a request.
class Gathering {
 public:
  explicit Gathering(hocket_request** request) : request_(request) {
    if (request != nullptr) held_.reset(new (std::nothrow) hocket_request());
  }
  /// Else there is no memory for what the user would hold.
  bool has_room() const { return request_ == nullptr || held_ != nullptr; }
  hocket_request& ops() { return held_ != nullptr ? *held_ : own_; }
  /// Waits for what was submitted, or hands it to the user and lets it begin.
  Result<void> carry_out() {
    if (request_ == nullptr) {
      own_.wait(kForever);
      return own_.finish();
    }
    *request_ = held_.release();
    (*request_)->kick();
    return kOk;
  }

 private:
  hocket_request** const request_;
  hocket_request own_;
  std::unique_ptr<hocket_request> held_;
};

/// Submits one call, or adds it to the open group.
Result<void> submit(hocket_comm& comm, const Arguments& arguments, hocket_request** request) {
  TRY(const engine::Call call, make_call(arguments, comm.rank(), comm.size()));
  if (group().open()) {
    if (request != nullptr)
      return refuse(Code::invalid_usage, name_of(arguments),
                    "a call inside a group has no request of its own");
    return group().add(comm, call);
  }
  Gathering gathering(request);
  if (!gathering.has_room()) return Error::no_memory();
  TRY_VOID(gathering.ops().add(comm, {&call, 1}));
  gathering.ops().submit();
  return gathering.carry_out();
}

hocket_result call(hocket_comm* comm, const Arguments& arguments, hocket_request** request) {
  if (request != nullptr) *request = nullptr;
  Result<void> result = usable(comm, name_of(arguments));
  if (result) result = submit(*comm, arguments, request);
  if (result) return HOCKET_SUCCESS;
  const hocket_result code = fail(result.error());
  if (group().open()) group().fail(std::move(result).error());
  return code;
}

Result<void> on_streams(const hocket_comm* comm, const char* call) {
  TRY_VOID(usable(comm, call));
  if (comm->domain() != nullptr) return kOk;
  return refuse(Code::invalid_usage, call,
                "the communicator was created without hocket_options.cuda");
}

Result<void> enqueue(hocket_comm& comm, const Arguments& arguments, void* stream) {
  TRY(const engine::Call call, make_call(arguments, comm.rank(), comm.size()));
  if (group().open()) return group().add(comm, call, {stream});
  const bool is_message = call.request.collective == Collective::send_recv;
  TRY(const engine::stream::Prepared prepared,
      is_message ? comm.prepare(std::span(&call, 1)) : comm.prepare(call));
  return comm.domain()->executor().enqueue({stream}, prepared);
}

/// Enqueues one call, or adds it to the open group.
hocket_result call_on(void* stream, hocket_comm* comm, const Arguments& arguments) {
  Result<void> result = on_streams(comm, name_of(arguments));
  if (result) result = enqueue(*comm, arguments, stream);
  if (result) return HOCKET_SUCCESS;
  const hocket_result code = fail(result.error());
  if (group().open()) group().fail(std::move(result).error());
  return code;
}

/// The request is done: its result; the handle is gone.
hocket_result finish(hocket_request** request) {
  const std::unique_ptr<hocket_request> own(std::exchange(*request, nullptr));
  return to_c(own->finish());
}

Result<void> valid(hocket_request** request, const char* call) {
  if (request == nullptr || *request == nullptr) return null(call, "the request");
  if (!forked()) return kOk;
  return refuse(Code::invalid_usage, call, "the request belongs to the parent of this process");
}

struct Text {  ///< where the caller wants it
  char* begin;
  size_t size, *needed;
};

template <class Explain>
hocket_result tell(const Text& text, const char* call, Explain explain) {
  if (text.begin == nullptr && text.size > 0) return fail(null(call, "text"));
  const Result<std::string> explained = explain();
  if (!explained) return fail(explained.error());
  const std::string& whole = explained.value();
  if (text.needed != nullptr) *text.needed = whole.size() + 1;
  if (text.size == 0) return HOCKET_SUCCESS;
  const std::size_t written = std::min(text.size - 1, whole.size());
  std::memcpy(text.begin, whole.data(), written);
  text.begin[written] = 0;
  return HOCKET_SUCCESS;
}

}  // namespace

int hocket_version(void) { return HOCKET_VERSION; }

const char* hocket_result_text(hocket_result result) {
  static constexpr const char* kTexts[] = {
      "success", "invalid argument", "invalid usage", "mismatch",    "timeout",
      "aborted", "peer lost",        "out of memory", "unsupported", "system error"};
  const auto index = static_cast<std::size_t>(result);
  return index < std::size(kTexts) ? kTexts[index] : "unknown result";
}

const char* hocket_last_error(void) { return last_error(); }

hocket_result hocket_get_id(hocket_id* id) {
  if (id == nullptr) return fail(null(__func__, "id"));
  return to_c(make_id(*id));
}

hocket_result hocket_comm_create(hocket_comm** comm, int world, const hocket_id* id, int rank,
                                 const hocket_options* options) {
  if (comm == nullptr) return fail(null(__func__, "comm"));
  *comm = nullptr;
  if (group().open()) return fail(refuse(Code::invalid_usage, __func__, "inside a group"));
  const CommArguments arguments{world, rank, id, options};
  Result<std::unique_ptr<hocket_comm>> made = create_comm(arguments);
  if (!made) return fail(made.error());
  *comm = made->release();
  return HOCKET_SUCCESS;
}

hocket_result hocket_comm_destroy(hocket_comm* comm) {
  if (comm == nullptr) return HOCKET_SUCCESS;
  if (const Result<void> result = usable(comm, __func__); !result) return fail(result.error());
  if (group().open()) return fail(refuse(Code::invalid_usage, __func__, "inside a group"));
  if (const std::uint32_t requests = comm->communicator().held(); requests > 0)
    return fail(refuse(Code::invalid_usage, __func__,
                       std::to_string(requests) + (requests == 1 ? " op is" : " ops are") +
                           " in use: a request was neither tested nor waited to the end, or "
                           "another thread is in a call"));
  if (comm->groups().load() > 0)
    return fail(
        refuse(Code::invalid_usage, __func__, "another thread's open group has calls of it"));
  destroy_comm(std::unique_ptr<hocket_comm>(comm));
  return HOCKET_SUCCESS;
}

hocket_result hocket_comm_abort(hocket_comm* comm) {
  if (const Result<void> result = usable(comm, __func__); !result) return fail(result.error());
  comm->communicator().abort("hocket_comm_abort was called");
  comm->process().kick();
  return HOCKET_SUCCESS;
}

hocket_result hocket_comm_rank(const hocket_comm* comm, int* rank) {
  if (const Result<void> result = usable(comm, __func__); !result) return fail(result.error());
  if (rank == nullptr) return fail(null(__func__, "rank"));
  *rank = static_cast<int>(comm->rank().value);
  return HOCKET_SUCCESS;
}

hocket_result hocket_comm_size(const hocket_comm* comm, int* size) {
  if (const Result<void> result = usable(comm, __func__); !result) return fail(result.error());
  if (size == nullptr) return fail(null(__func__, "size"));
  *size = static_cast<int>(comm->size());
  return HOCKET_SUCCESS;
}

hocket_result hocket_comm_async_error(hocket_comm* comm, hocket_result* error) {
  if (const Result<void> result = usable(comm, __func__); !result) return fail(result.error());
  if (error == nullptr) return fail(null(__func__, "error"));
  comm->process().look(comm->communicator());
  const std::optional<Error> failure = comm->communicator().failure();
  *error = failure ? fail(*failure) : HOCKET_SUCCESS;
  return HOCKET_SUCCESS;
}

hocket_result hocket_all_reduce(const void* input, void* output, size_t count, hocket_type type,
                                hocket_op op, hocket_comm* comm, hocket_request** request) {
  return call(comm, {HOCKET_ALL_REDUCE, input, output, count, type, op}, request);
}

hocket_result hocket_all_gather(const void* input, void* output, size_t count, hocket_type type,
                                hocket_comm* comm, hocket_request** request) {
  return call(comm, {HOCKET_ALL_GATHER, input, output, count, type}, request);
}

hocket_result hocket_reduce_scatter(const void* input, void* output, size_t count, hocket_type type,
                                    hocket_op op, hocket_comm* comm, hocket_request** request) {
  return call(comm, {HOCKET_REDUCE_SCATTER, input, output, count, type, op}, request);
}

hocket_result hocket_broadcast(const void* input, void* output, size_t count, hocket_type type,
                               int root, hocket_comm* comm, hocket_request** request) {
  return call(comm, {HOCKET_BROADCAST, input, output, count, type, HOCKET_SUM, root}, request);
}

hocket_result hocket_reduce(const void* input, void* output, size_t count, hocket_type type,
                            hocket_op op, int root, hocket_comm* comm, hocket_request** request) {
  return call(comm, {HOCKET_REDUCE, input, output, count, type, op, root}, request);
}

hocket_result hocket_alltoall(const void* input, void* output, size_t count, hocket_type type,
                              hocket_comm* comm, hocket_request** request) {
  return call(comm, {HOCKET_ALLTOALL, input, output, count, type}, request);
}

hocket_result hocket_barrier(hocket_comm* comm, hocket_request** request) {
  return call(comm, {HOCKET_BARRIER}, request);
}

hocket_result hocket_send(const void* input, size_t count, hocket_type type, int peer,
                          hocket_comm* comm, hocket_request** request) {
  const Arguments arguments{HOCKET_SEND_RECV, input, nullptr, count, type, HOCKET_SUM, peer, true};
  return call(comm, arguments, request);
}

hocket_result hocket_recv(void* output, size_t count, hocket_type type, int peer, hocket_comm* comm,
                          hocket_request** request) {
  return call(comm, {HOCKET_SEND_RECV, nullptr, output, count, type, HOCKET_SUM, peer}, request);
}

hocket_result hocket_stream_all_reduce(const void* input, void* output, size_t count,
                                       hocket_type type, hocket_op op, hocket_comm* comm,
                                       void* stream) {
  return call_on(stream, comm, {HOCKET_ALL_REDUCE, input, output, count, type, op});
}

hocket_result hocket_stream_all_gather(const void* input, void* output, size_t count,
                                       hocket_type type, hocket_comm* comm, void* stream) {
  return call_on(stream, comm, {HOCKET_ALL_GATHER, input, output, count, type});
}

hocket_result hocket_stream_reduce_scatter(const void* input, void* output, size_t count,
                                           hocket_type type, hocket_op op, hocket_comm* comm,
                                           void* stream) {
  return call_on(stream, comm, {HOCKET_REDUCE_SCATTER, input, output, count, type, op});
}

hocket_result hocket_stream_broadcast(const void* input, void* output, size_t count,
                                      hocket_type type, int root, hocket_comm* comm, void* stream) {
  return call_on(stream, comm, {HOCKET_BROADCAST, input, output, count, type, HOCKET_SUM, root});
}

hocket_result hocket_stream_reduce(const void* input, void* output, size_t count, hocket_type type,
                                   hocket_op op, int root, hocket_comm* comm, void* stream) {
  return call_on(stream, comm, {HOCKET_REDUCE, input, output, count, type, op, root});
}

hocket_result hocket_stream_alltoall(const void* input, void* output, size_t count,
                                     hocket_type type, hocket_comm* comm, void* stream) {
  return call_on(stream, comm, {HOCKET_ALLTOALL, input, output, count, type});
}

hocket_result hocket_stream_barrier(hocket_comm* comm, void* stream) {
  return call_on(stream, comm, {HOCKET_BARRIER});
}

hocket_result hocket_stream_send(const void* input, size_t count, hocket_type type, int peer,
                                 hocket_comm* comm, void* stream) {
  const Arguments arguments{HOCKET_SEND_RECV, input, nullptr, count, type, HOCKET_SUM, peer, true};
  return call_on(stream, comm, arguments);
}

hocket_result hocket_stream_recv(void* output, size_t count, hocket_type type, int peer,
                                 hocket_comm* comm, void* stream) {
  return call_on(stream, comm, {HOCKET_SEND_RECV, nullptr, output, count, type, HOCKET_SUM, peer});
}

hocket_result hocket_group_start(void) {
  group().start();
  return HOCKET_SUCCESS;
}

hocket_result hocket_group_end(hocket_request** request) {
  if (request != nullptr) *request = nullptr;
  if (forked() && !group().empty())
    group().fail(
        refuse(Code::invalid_usage, __func__, "the group belongs to the parent of this process"));
  Gathering gathering(request);
  if (!gathering.has_room()) group().fail(Error::no_memory());
  if (const Result<void> ended = group().end(gathering.ops()); !ended) return fail(ended.error());
  return gathering.ops().empty() ? HOCKET_SUCCESS : to_c(gathering.carry_out());
}

hocket_result hocket_test(hocket_request** request, int* done) {
  if (const Result<void> result = valid(request, __func__); !result) return fail(result.error());
  if (done == nullptr) return fail(null(__func__, "done"));
  *done = (*request)->test();
  return *done ? finish(request) : HOCKET_SUCCESS;
}

hocket_result hocket_wait(hocket_request** request, int timeout_ms) {
  if (const Result<void> result = valid(request, __func__); !result) return fail(result.error());
  if (timeout_ms < HOCKET_NO_TIMEOUT)
    return fail(
        refuse(Code::invalid_argument, __func__, "timeout_ms is " + std::to_string(timeout_ms)));
  const Duration most = timeout_ms == HOCKET_NO_TIMEOUT ? kForever : milliseconds(timeout_ms);
  if ((*request)->wait(most)) return finish(request);
  return fail(refuse(Code::timeout, __func__,
                     "not done after " + std::to_string(timeout_ms) + " ms; the op goes on"));
}

hocket_result hocket_explain(hocket_comm* comm, hocket_collective collective, size_t count,
                             hocket_type type, hocket_op op, char* text, size_t size,
                             size_t* needed) {
  if (const Result<void> result = usable(comm, __func__); !result) return fail(result.error());
  return tell({text, size, needed}, __func__, [&]() -> Result<std::string> {
    TRY(const Request request,
        make_request({collective, nullptr, nullptr, count, type, op}, comm->size()));
    return api::explain(*comm->communicator().config().tuning, request);
  });
}

hocket_result hocket_stream_explain(hocket_comm* comm, hocket_collective collective, size_t count,
                                    hocket_type type, hocket_op op, char* text, size_t size,
                                    size_t* needed) {
  if (const Result<void> result = on_streams(comm, __func__); !result) return fail(result.error());
  return tell({text, size, needed}, __func__, [&]() -> Result<std::string> {
    TRY(const Request request,
        make_request({collective, nullptr, nullptr, count, type, op}, comm->size()));
    return api::explain(comm->domain()->executor(), request);
  });
}
