// SPDX-License-Identifier: Apache-2.0
#include "api/domain.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "api/comm.h"
#include "base/prng.h"

namespace hocket::api {
namespace {

/// How a step ended on a rank, and the card that it brought.
struct Word {
  static constexpr std::size_t kText = 256;
  std::uint32_t code = kFine;
  char text[kText] = {};
  cuda::Card card{};

  static constexpr std::uint32_t kFine = ~0u;  // no Code
};

Word failed(const Error& error) {
  Word word;
  word.code = static_cast<std::uint32_t>(error.code());
  std::memcpy(word.text, error.message().data(), std::min(error.message().size(), Word::kText - 1));
  return word;
}

/// What ranks say in turn, by an all_gather of the communicator.
class Talk {
 public:
  Talk(hocket_comm& comm, Instant deadline) : comm_(comm), deadline_(deadline) {}

  /// Everybody's words, by rank; a failure on one is a failure on all.
  Result<std::vector<Word>> say(const Word& mine) {
    std::vector<Word> all(comm_.size());
    engine::Call call;
    call.request.collective = Collective::all_gather;
    call.request.type = DataType::uint8;
    call.request.count = sizeof mine;
    call.input = reinterpret_cast<const std::byte*>(&mine);
    call.output = reinterpret_cast<std::byte*>(all.data());
    TRY_VOID(carry_out(call));
    for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].code == Word::kFine) continue;
      all[rank].text[Word::kText - 1] = 0;
      return Error(static_cast<Code>(all[rank].code),
                   "ops on streams: rank " + std::to_string(rank) + ": " + all[rank].text)
          .about_peer(Rank{rank});
    }
    return all;
  }

 private:
  Result<void> carry_out(const engine::Call& call) {
    hocket_request request;
    TRY_VOID(request.add(comm_, {&call, 1}));
    request.submit();
    const Duration left = deadline_ - comm_.runtime().clock().now();
    if (deadline_ != kNever && !request.wait(std::max(left, Duration{0}))) {
      comm_.communicator().abort("ranks did not meet on their devices before the deadline");
      comm_.process().kick();
    }
    request.wait(kForever);
    return request.finish();
  }

  hocket_comm& comm_;
  const Instant deadline_;
};

Result<void> check(const Topology& topology) {
  if (topology.nodes() == 1 && topology.world() <= world::kMostInDomain) return kOk;
  return Error(Code::unsupported, "a domain has 1 to " + std::to_string(world::kMostInDomain) +
                                      " ranks of one node, here are " + topology.text());
}

/// Of the id: the same on all ranks, another one for every communicator.
std::uint64_t number_of(const world::UniqueId& id) {
  Hash hash;
  hash.add_all(id);
  return hash.value();
}

Result<std::unique_ptr<cuda::Member>> make_member(hocket_comm& comm, const world::UniqueId& id) {
  const engine::Config& config = comm.communicator().config();
  TRY_VOID(check(*config.topology));
  TRY(Cuda * cuda, comm.runtime().cuda());
  cuda::MemberOptions options;
  options.me = comm.rank();
  options.world = comm.size();
  options.process = cuda->mark;
  options.communicator = number_of(id);
  options.patience = config.op_timeout;
  return cuda::Member::make(cuda->contexts, options);
}

/// The communicator's, but for what selects: on streams there are fewer algorithms, other links,
/// and no pieces.
Result<std::shared_ptr<const engine::Config>> configure(Runtime& runtime,
                                                        const engine::Config& config) {
  algo::Agreed agreed;
  agreed.topology = config.topology;
  agreed.costs = nvlink_costs();
  agreed.channels = 1;
  agreed.on_streams = true;
  agreed.rules = config.tuning->agreed().rules;
  engine::Config own = config;
  TRY(own.tuning, runtime.tuning(std::move(agreed)));
  return std::make_shared<const engine::Config>(std::move(own));
}

}  // namespace

Result<std::unique_ptr<Domain>> Domain::join(hocket_comm& comm, const world::Join& join) {
  Talk talk(comm, join.deadline);
  Result<std::unique_ptr<cuda::Member>> made = make_member(comm, join.id);
  Word word;
  if (made) {
    word.card = (*made)->card();
  } else {
    word = failed(made.error());
  }
  TRY(const std::vector<Word> words, talk.say(word));
  std::vector<cuda::Card> cards;
  for (const Word& other : words) cards.push_back(other.card);
  const Result<void> connected = (*made)->connect(cards);
  TRY_VOID(talk.say(connected ? Word() : failed(connected.error())));
  TRY(std::shared_ptr<const engine::Config> config,
      configure(comm.runtime(), comm.communicator().config()));
  return std::make_unique<Domain>(Private{}, *std::move(made), std::move(config), comm.rank());
}

}  // namespace hocket::api
