// SPDX-License-Identifier: Apache-2.0
// Seeded random traffic between all ranks on all channels: sizes, ports, ways of taking and pauses
// are drawn, every byte is checked.
#include <algorithm>
#include <array>
#include <vector>

#include "testing/cases.h"
#include "transport/conformance/messages.h"
#include "transport/conformance/suite.h"

namespace hocket::transport::conformance {
namespace {

using world::Port;

class Traffic final : public Script {
 public:
  Traffic(std::uint64_t seed, std::uint32_t ranks, std::uint32_t channels)
      : seed_(seed), ranks_(ranks), channels_(channels) {}

  // A voice sends to, or takes from, one rank on one channel.
  std::uint32_t voices(Rank) const override { return 2 * ranks_ * channels_; }
  Task<void> play(Player& self, std::uint32_t voice) override {
    const std::uint32_t peer = voice / 2 % ranks_;
    const auto channel = static_cast<std::uint16_t>(voice / 2 / ranks_);
    return voice % 2 == 0 ? sends(self, peer, channel) : takes(self, peer, channel);
  }

 private:
  static constexpr std::uint32_t kMessages = 40;
  struct Drawn {
    std::uint64_t size = 0, seed = 0;
    bool lands = false, drains = false;
  };
  // Both ends draw the same: nearly all sizes are small, some are slices.
  static Drawn draw(Prng& prng, const Player& self) {
    const std::uint64_t most = self.traits().slice_bytes;
    const std::uint64_t bound =
        std::array<std::uint64_t, 5>{64, 64, 2048, 2048, most}[prng.below(5)];
    Drawn drawn;
    drawn.size = std::min(most, prng.below(bound + 1));
    drawn.seed = prng.next();
    drawn.lands = prng.below(2) == 0;
    drawn.drains = prng.below(4) == 0;
    return drawn;
  }
  Prng shared(std::uint32_t from, std::uint32_t to, std::uint16_t channel) const {
    return Prng(seed_ + from * 1'000'003 + to * 10'007 + channel * 101);
  }
  Task<void> sends(Player& self, std::uint32_t to, std::uint16_t channel) {
    Prng prng = shared(self.rank().value, to, channel), own(prng.next());
    world::Waiter out = self.waiter(Port::staged, to, channel);
    std::vector<Payload> kept;
    kept.reserve(kMessages);
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      const Drawn drawn = draw(prng, self);
      kept.emplace_back(drawn.size, own.below(64));
      kept.back().fill(drawn.seed);
      out.aim(out.peer, drawn.lands ? Port::landing : Port::staged);
      CO_TRY_VOID(send(self, out, kept.back().source(self)));
      if (own.below(8) == 0) {
        CO_TRY_VOID(idle(self, static_cast<std::uint32_t>(own.below(9))));
      }
      if (drawn.drains) {
        CO_TRY_VOID(drain(self, channel));
        for (Payload& payload : kept) payload.fill(0);
        kept.clear();
      }
    }
    CO_TRY_VOID(drain(self, channel));
    co_return kOk;
  }
  Task<void> takes(Player& self, std::uint32_t from, std::uint16_t channel) {
    Prng prng = shared(from, self.rank().value, channel), own(prng.next() + 1);
    if (from == 0 && channel == 0) {
      Result<void> entered = self.fabric().enter({OpSeq{1}, {}});
      if (!entered) co_return std::move(entered).error();
    }
    world::Waiter in = self.waiter(Port::arrival, from, channel);
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      const Drawn drawn = draw(prng, self);
      if (own.below(8) == 0) {
        CO_TRY_VOID(idle(self, static_cast<std::uint32_t>(own.below(9))));
      }
      if (own.below(2) == 0) {
        CO_TRY_VOID(take(self, in, drawn.size, drawn.seed));
      } else {
        Payload target(drawn.size, own.below(64));
        CO_TRY_VOID(take_into(self, in, target, drawn.seed));
      }
    }
    co_return kOk;
  }
  const std::uint64_t seed_;
  const std::uint32_t ranks_, channels_;
};

TEST_P(Conformance, WithstandsRandomTraffic) {
  for (int seed = 1; seed <= testing::cases(10); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::uint32_t ranks = 1 + static_cast<std::uint32_t>(seed) % traits().most_ranks;
    Traffic script(static_cast<std::uint64_t>(seed), ranks, std::min(traits().channels, 3u));
    perform(script, ranks);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hocket::transport::conformance
