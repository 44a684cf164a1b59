// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/transfers.h"

#include <string>

#include "base/prng.h"

namespace hocket::engine::stream {
namespace {

std::uint32_t signature_of(const Request& request) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(request.type));
  hash.add(request.count);
  return static_cast<std::uint32_t>(hash.value() ^ hash.value() >> 32);
}

world::Transfer transfer_of(const Call& call) {
  return {.memory = call.request.sends ? const_cast<std::byte*>(call.input) : call.output,
          .bytes = call.request.count * size_of(call.request.type),
          .signature = signature_of(call.request)};
}

/// Adds directions, each with its calls.
class Gathering {
 public:
  explicit Gathering(std::span<const Call> calls) : calls_(calls) {}

  void add(std::uint32_t peer, bool sends) {
    begin(peer, sends);
    for (std::size_t i = next(peer, sends, 0); i < calls_.size(); i = next(peer, sends, i + 1))
      add(calls_[i]);
    end();
  }

  /// What is sent and what receives it, in turn.
  Result<void> add_own(Rank me) {
    begin(me.value, true);
    std::size_t received = next(me.value, false, 0);
    for (std::size_t sent = next(me.value, true, 0); sent < calls_.size();
         sent = next(me.value, true, sent + 1)) {
      const Request& request = calls_[sent].request;
      if (received == calls_.size() || !takes(calls_[received].request, request))
        return unreceived(request);
      add(calls_[sent]);
      add(calls_[received]);
      received = next(me.value, false, received + 1);
    }
    end();
    if (received == calls_.size()) return kOk;
    return unsent(calls_[received].request);
  }

  const world::Transfers& all() const { return all_; }

 private:
  static bool is_of(const Call& call, std::uint32_t peer, bool sends) {
    return call.request.root.value == peer && call.request.sends == sends;
  }
  /// The first one of these from there on.
  std::size_t next(std::uint32_t peer, bool sends, std::size_t at) const {
    while (at < calls_.size() && !is_of(calls_[at], peer, sends)) ++at;
    return at;
  }
  void begin(std::uint32_t peer, bool sends) {
    direction_ = {.peer = static_cast<std::uint8_t>(peer), .sends = sends, .first = count_};
  }
  void add(const Call& call) {
    all_.all[count_++] = transfer_of(call);
    ++direction_.count;
  }
  void end() {
    if (direction_.count > 0) all_.directions[all_.count++] = direction_;
  }

  const std::span<const Call> calls_;
  world::Transfers all_;
  world::Direction direction_;
  std::uint16_t count_ = 0;
};

}  // namespace

Result<world::Transfers> gather(std::span<const Call> calls, Rank me) {
  if (calls.size() > world::Transfers::kMost)
    return Error(Code::invalid_usage, "on a stream: a group of " + std::to_string(calls.size()) +
                                          " sends and receives of one communicator; it takes " +
                                          std::to_string(world::Transfers::kMost));
  Gathering gathering(calls);
  for (std::uint32_t peer = 0; peer < world::kMostInDomain; ++peer) {
    if (peer == me.value) continue;
    gathering.add(peer, true);
    gathering.add(peer, false);
  }
  TRY_VOID(gathering.add_own(me));
  return gathering.all();
}

}  // namespace hocket::engine::stream
