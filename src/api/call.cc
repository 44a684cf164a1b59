// SPDX-License-Identifier: Apache-2.0
#include "api/call.h"

#include <string>

namespace hocket::api {
namespace {

static_assert(HOCKET_UINT8 + 1 == kDataTypes && HOCKET_AVG + 1 == kReduceOps &&
              HOCKET_SEND_RECV + 1 == kCollectives);

/// Buffers are shorter than this, so that sums of offsets and sizes cannot overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

Error refuse(const Request& request, const std::string& what) {
  const bool message = request.collective == Collective::send_recv;
  const char* const name =
      !message ? name_of(request.collective) : (request.sends ? "send" : "recv");
  return Error(Code::invalid_argument, std::string(name) + ": " + what);
}

template <class Enum>
bool valid(Enum value, std::size_t count) {
  return static_cast<long long>(value) >= 0 && static_cast<std::size_t>(value) < count;
}

struct Extents {  ///< bytes that this rank's op reads and writes
  std::uint64_t input = 0, output = 0;
};

Extents extents(const Request& r, Rank me, std::uint32_t world) {
  const std::uint64_t one = r.count * size_of(r.type), all = one * world;
  switch (r.collective) {
    case Collective::all_reduce:
      return {one, one};
    case Collective::all_gather:
      return {one, all};
    case Collective::reduce_scatter:
      return {all, one};
    case Collective::broadcast:
      return {r.root == me ? one : 0, one};
    case Collective::reduce:
      return {one, r.root == me ? one : 0};
    case Collective::alltoall:
      return {all, all};
    case Collective::send_recv:
      return {r.sends ? one : 0, r.sends ? 0 : one};
    case Collective::barrier:
      break;
  }
  return {};
}

/// Where output begins relative to input when the collective is in place.
const std::byte* in_place_output(const Request& r, const std::byte* input, Rank me) {
  const std::uint64_t mine = r.count * size_of(r.type) * me.value;
  if (r.collective == Collective::all_gather) return input - mine;
  if (r.collective == Collective::reduce_scatter) return input + mine;
  return input;
}

Result<void> check_memory(engine::Call& call, Rank me, std::uint32_t world) {
  Request& r = call.request;
  const Extents bytes = extents(r, me, world);
  if (bytes.input > 0 && call.input == nullptr) return refuse(r, "input is null");
  if (bytes.output > 0 && call.output == nullptr) return refuse(r, "output is null");
  if (bytes.input == 0 || bytes.output == 0) return kOk;
  const bool apart =
      call.input + bytes.input <= call.output || call.output + bytes.output <= call.input;
  if (apart) return kOk;
  r.in_place =
      call.output == in_place_output(r, call.input, me) && r.collective != Collective::alltoall;
  if (r.in_place) return kOk;
  return refuse(r, "input and output overlap by less or more than in place: input of " +
                       std::to_string(bytes.input) + " bytes, output of " +
                       std::to_string(bytes.output) + " bytes at " +
                       std::to_string(call.output - call.input) + " from it");
}

}  // namespace

Result<Request> make_request(hocket_collective collective, std::size_t count, hocket_type type,
                             hocket_op op) {
  if (!valid(collective, kCollectives))
    return Error(Code::invalid_argument,
                 "collective " + std::to_string(collective) + " is none of hocket_collective");
  Request request;
  request.collective = static_cast<Collective>(collective);
  if (!valid(type, kDataTypes))
    return refuse(request, "type " + std::to_string(type) + " is none of hocket_type");
  if (!valid(op, kReduceOps))
    return refuse(request, "op " + std::to_string(op) + " is none of hocket_op");
  request.type = static_cast<DataType>(type);
  request.op = static_cast<ReduceOp>(op);
  request.count = count;
  return request;
}

Result<engine::Call> make_call(const Arguments& arguments, Rank me, std::uint32_t world) {
  engine::Call call;
  TRY(call.request,
      make_request(arguments.collective, arguments.count, arguments.type, arguments.op));
  Request& r = call.request;
  r.sends = arguments.sends;
  if (arguments.root < 0 || static_cast<std::uint32_t>(arguments.root) >= world)
    return refuse(r, (r.collective == Collective::send_recv ? "peer " : "root ") +
                         std::to_string(arguments.root) + " in a world of " +
                         std::to_string(world));
  r.root = Rank{static_cast<std::uint32_t>(arguments.root)};
  if (r.count > kMostBytes / size_of(r.type) / world)
    return refuse(r, "count " + std::to_string(r.count) + " is beyond what memory can hold");
  call.input = static_cast<const std::byte*>(arguments.input);
  call.output = static_cast<std::byte*>(arguments.output);
  TRY_VOID(check_memory(call, me, world));
  return call;
}

}  // namespace hocket::api
