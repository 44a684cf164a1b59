// SPDX-License-Identifier: Apache-2.0
// How ranks go: by leaving, which is not a failure, and by dying, which is. Nobody waits for them.
#include <string>
#include <vector>

#include "transport/conformance/messages.h"
#include "transport/conformance/suite.h"

namespace hocket::transport::conformance {
namespace {

using world::Port;

void expect_left(const Error& error, std::uint32_t peer) {
  EXPECT_EQ(error.code(), Code::peer_lost);
  EXPECT_EQ(error.peer(), Rank{peer});
  const std::string words = "rank " + std::to_string(peer) + " has left";
  EXPECT_NE(error.message().find(words), std::string::npos) << error.text();
}

// Rank 1 sends its last messages and leaves; the others get those, and then hear of it.
class Leaving final : public Script {
 public:
  std::uint32_t voices(Rank rank) const override { return rank == Rank{0} ? 2 : 1; }
  Task<void> play(Player& self, std::uint32_t voice) override {
    if (self.rank() == Rank{1}) return leaves(self);
    return voice == 0 ? takes(self) : sends(self);
  }

 private:
  Task<void> leaves(Player& self) {
    for (std::uint32_t peer = 0; peer < self.ranks(); ++peer) {
      if (Rank{peer} == self.rank()) continue;
      Payload payload(40);
      payload.fill(peer);
      world::Waiter out = self.waiter(Port::staged, peer);
      CO_TRY_VOID(send(self, out, payload.source(self)));
      CO_TRY_VOID(drain(self));
    }
    co_return kOk;
  }
  Task<void> takes(Player& self) {
    world::Waiter in = self.waiter(Port::arrival, 1);
    CO_TRY_VOID(idle(self, 100));
    CO_TRY_VOID(take(self, in, 40, self.rank().value));
    co_await self.ready(in);
    expect_left(self.fabric().front(in, 8).error(), 1);
    EXPECT_TRUE(self.fabric().ready(in)) << "it comes back?";
    Payload target(8);
    expect_left(self.fabric().land(in, target.target(self)).error(), 1);
    EXPECT_FALSE(self.membership().failure().has_value()) << "leaving is not a failure";
    co_return kOk;
  }
  // What nobody will take is not written for ever, and holds no source.
  Task<void> sends(Player& self) {
    world::Waiter out = self.waiter(Port::staged, 1, 1);
    Payload payload(self.traits().slice_bytes);
    Result<void> written = kOk;
    for (std::uint32_t i = 0; written && i <= self.traits().credits; ++i) {
      co_await self.ready(out);
      const world::Message message{payload.source(self), 0};
      written = self.fabric().write(out, message);
    }
    EXPECT_FALSE(written.has_value()) << "more was written than there are credits";
    if (!written) expect_left(written.error(), 1);
    CO_TRY_VOID(drain(self, 1));
    co_return kOk;
  }
};

TEST_P(Conformance, HearsOfARankThatLeft) {
  Leaving script;
  perform(script, 2);
  perform(script, traits().most_ranks);
}

// Endpoints go in every order while there are messages that nobody has taken.
class Going final : public Script {
 public:
  explicit Going(std::uint32_t order) : order_(order) {}
  Task<void> play(Player& self, std::uint32_t) override {
    const std::uint32_t n = self.ranks();
    Payload payload(self.traits().slice_bytes);
    payload.fill(1);
    for (std::uint32_t peer = 0; peer < n; ++peer) {
      world::Waiter out = self.waiter(Port::staged, peer);
      if (!self.fabric().ready(out)) continue;
      Result<void> written = self.fabric().write(out, {payload.source(self), 0});
      if (!written) {
        EXPECT_EQ(written.error().code(), Code::peer_lost);
      }
    }
    CO_TRY_VOID(idle(self, 20 * ((self.rank().value * order_) % n)));
    co_return kOk;
  }

 private:
  const std::uint32_t order_;
};

TEST_P(Conformance, GoesInAnyOrder) {
  for (const std::uint32_t order : {0u, 1u, 3u}) {
    Going script(order);
    perform(script, 4);
  }
}

// Rank 1 dies. Rank 0 waits for it, rank 2 for a credit of it, rank 3 for rank 0 alone.
class Dying final : public Script {
 public:
  Task<void> play(Player& self, std::uint32_t) override {
    switch (self.rank().value) {
      case 0:
        return waits(self);
      case 1:
        return dies(self);
      case 2:
        return writes(self);
      default:
        return watches(self);
    }
  }

 private:
  static constexpr Duration kBound = seconds(1);
  Task<void> dies(Player& self) {
    for (const std::uint32_t peer : {0u, 2u, 3u}) {
      world::Waiter out = self.waiter(Port::staged, peer), in = self.waiter(Port::arrival, peer);
      CO_TRY_VOID(send(self, out, ConstBytes()));
      CO_TRY_VOID(take(self, in, 0, 0));
    }
    co_await self.death();
    co_return Error(Code::system, "outlived its death");
  }
  // Tells it to go on; the time counts from here.
  Task<Instant> meets(Player& self) {
    world::Waiter in = self.waiter(Port::arrival, 1), out = self.waiter(Port::staged, 1);
    CO_TRY_VOID(take(self, in, 0, 0));
    CO_TRY_VOID(send(self, out, ConstBytes()));
    co_return self.clock().now();
  }
  Task<void> waits(Player& self) {
    CO_TRY(const Instant start, meets(self));
    world::Waiter in = self.waiter(Port::arrival, 1);
    co_await self.ready(in);
    expect_lost(self.fabric().front(in, 8).error());
    CO_TRY_VOID(watch(self, start));
    co_return kOk;
  }
  Task<void> writes(Player& self) {
    CO_TRY(const Instant start, meets(self));
    world::Waiter out = self.waiter(Port::staged, 1, 1);
    Payload payload(self.traits().slice_bytes);
    Result<void> written = kOk;
    for (std::uint32_t i = 0; written && i <= self.traits().credits; ++i) {
      co_await self.ready(out);
      const world::Message message{payload.source(self), 0};
      written = self.fabric().write(out, message);
    }
    EXPECT_FALSE(written.has_value());
    if (!written) expect_lost(written.error());
    CO_TRY_VOID(drain(self, 1));
    CO_TRY_VOID(watch(self, start));
    co_return kOk;
  }
  Task<void> watches(Player& self) {
    CO_TRY(const Instant start, meets(self));
    CO_TRY_VOID(watch(self, start));
    co_return kOk;
  }
  Task<void> watch(Player& self, Instant start) {
    std::optional<world::Failure> failure = self.membership().failure();
    while (!failure) {
      co_await self.pause();
      failure = self.membership().failure();
    }
    EXPECT_LE(self.clock().now() - start, kBound);
    EXPECT_EQ(failure->code, Code::peer_lost);
    EXPECT_EQ(failure->culprit, Rank{1});
    co_return kOk;
  }
  static void expect_lost(const Error& error) {
    EXPECT_EQ(error.code(), Code::peer_lost) << error.text();
    EXPECT_EQ(error.peer(), Rank{1}) << error.text();
  }
};

TEST_P(Conformance, NamesARankThatDied) {
  if (!traits().kills) GTEST_SKIP() << "no rank of this configuration can be killed";
  Dying script;
  perform(script, 4, Rank{1});
}

}  // namespace
}  // namespace hocket::transport::conformance
