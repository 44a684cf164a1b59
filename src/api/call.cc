// SPDX-License-Identifier: Apache-2.0
#include "api/call.h"

#include <cstdlib>
#include <string>

namespace hocket::api {
namespace {

static_assert(HOCKET_UINT8 + 1 == kDataTypes && HOCKET_AVG + 1 == kReduceOps &&
              HOCKET_SEND_RECV + 1 == kCollectives);

/// No machine has a longer buffer; and sums of offsets and sizes stay far from overflowing.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;

Error refuse(const Arguments& call, const std::string& what) {
  return Error(Code::invalid_argument, std::string(name_of(call)) + ": " + what);
}

bool valid(int value, std::size_t count) {
  return value >= 0 && static_cast<std::size_t>(value) < count;
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

/// How far behind the input the output of a collective in place begins, in bytes.
std::int64_t in_place_distance(const Request& r, Rank me) {
  const auto mine = static_cast<std::int64_t>(r.count * size_of(r.type) * me.value);
  if (r.collective == Collective::all_gather) return -mine;
  return r.collective == Collective::reduce_scatter ? mine : 0;
}

std::string overlap(const Request& r, const Extents& bytes, std::int64_t distance) {
  const bool never = r.collective == Collective::alltoall;
  std::string text = "input and output overlap, and ";
  text += never ? "it is never in place" : "not as in place";
  text += ": input of " + std::to_string(bytes.input) + " bytes, output of " +
          std::to_string(bytes.output) + " bytes ";
  if (distance == 0) return text + "at the same address";
  return text + std::to_string(std::abs(distance)) +
         (distance < 0 ? " bytes before" : " bytes after") + " it";
}

Result<void> check_memory(const Arguments& a, Request& r, Rank me, std::uint32_t world) {
  const Extents bytes = extents(r, me, world);
  if (bytes.input > 0 && a.input == nullptr) return refuse(a, "input is null");
  if (bytes.output > 0 && a.output == nullptr) return refuse(a, "output is null");
  if (bytes.input == 0 || bytes.output == 0) return kOk;
  const auto distance = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.output) -
                                                  reinterpret_cast<std::uintptr_t>(a.input));
  const bool apart = distance >= static_cast<std::int64_t>(bytes.input) ||
                     distance <= -static_cast<std::int64_t>(bytes.output);
  if (apart) return kOk;
  r.in_place = r.collective != Collective::alltoall && distance == in_place_distance(r, me);
  if (r.in_place) return kOk;
  return refuse(a, overlap(r, bytes, distance));
}

}  // namespace

Result<Request> make_request(const Arguments& arguments, std::uint32_t world) {
  const Arguments& a = arguments;
  if (!valid(a.collective, kCollectives))
    return Error(Code::invalid_argument,
                 "collective " + std::to_string(a.collective) + " is none of hocket_collective");
  Request request;
  request.collective = static_cast<Collective>(a.collective);
  request.sends = a.sends;
  if (!valid(a.type, kDataTypes))
    return refuse(a, "type " + std::to_string(a.type) + " is none of hocket_type");
  if (!valid(a.op, kReduceOps))
    return refuse(a, "op " + std::to_string(a.op) + " is none of hocket_op");
  request.type = static_cast<DataType>(a.type);
  request.op = static_cast<ReduceOp>(a.op);
  request.count = a.count;
  std::uint64_t bytes = 0;  // of the longest buffer
  if (__builtin_mul_overflow(request.count, std::uint64_t{size_of(request.type)} * world, &bytes) ||
      bytes > kMostBytes)
    return refuse(a, "count " + std::to_string(a.count) + " is beyond what memory can hold");
  return request;
}

const char* name_of(const Arguments& arguments) {
  const auto collective = static_cast<Collective>(arguments.collective);
  if (collective != Collective::send_recv) return hocket::name_of(collective);
  return arguments.sends ? "send" : "recv";
}

Result<engine::Call> make_call(const Arguments& arguments, Rank me, std::uint32_t world) {
  engine::Call call;
  TRY(call.request, make_request(arguments, world));
  Request& r = call.request;
  if (!valid(arguments.root, world))
    return refuse(arguments, (r.collective == Collective::send_recv ? "peer " : "root ") +
                                 std::to_string(arguments.root) + " in a world of " +
                                 std::to_string(world));
  r.root = Rank{static_cast<std::uint32_t>(arguments.root)};
  call.input = static_cast<const std::byte*>(arguments.input);
  call.output = static_cast<std::byte*>(arguments.output);
  TRY_VOID(check_memory(arguments, r, me, world));
  return call;
}

}  // namespace hocket::api
