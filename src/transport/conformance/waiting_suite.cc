// SPDX-License-Identifier: Apache-2.0
// That ports are ready exactly when they should be, and that parking works: credits, draining,
// giving up.
#include <vector>

#include "transport/conformance/messages.h"
#include "transport/conformance/suite.h"

namespace hocket::transport::conformance {
namespace {

using world::Port;

// Rank 0 acts, rank 1 answers; signals between them go over the last channel.
class Duet : public Script {
 public:
  Task<void> play(Player& self, std::uint32_t) override {
    return self.rank() == Rank{0} ? first(self) : second(self);
  }

 protected:
  static Task<void> signal(Player& self) {
    world::Waiter out = self.waiter(Port::staged, 1 - self.rank().value, last(self));
    CO_TRY_VOID(send(self, out, ConstBytes()));
    co_return kOk;
  }
  static Task<void> await_signal(Player& self) {
    world::Waiter in = self.waiter(Port::arrival, 1 - self.rank().value, last(self));
    CO_TRY_VOID(take(self, in, 0, 0));
    co_return kOk;
  }

 private:
  virtual Task<void> first(Player& self) = 0;
  virtual Task<void> second(Player& self) = 0;
  static std::uint16_t last(const Player& self) {
    return static_cast<std::uint16_t>(self.traits().channels - 1);
  }
};

// As many messages may be written as there are credits; each one taken lets one more be written.
class Credits final : public Duet {
 public:
  explicit Credits(std::uint64_t size) : size_(size) {}

 private:
  Task<void> first(Player& self) override {
    world::Waiter out = self.waiter(Port::staged, 1);
    Payload payload(size_);
    payload.fill(1);
    std::uint32_t written = 0;
    while (written <= self.traits().credits && self.fabric().ready(out)) {
      CO_TRY_VOID(send(self, out, payload.source(self)));
      ++written;
    }
    EXPECT_EQ(written, self.traits().credits);
    world::Waiter other = self.waiter(Port::staged, 1, 1);
    EXPECT_TRUE(self.fabric().ready(other)) << "one channel's credits bound another";
    for (int more = 0; more < 5; ++more) {
      CO_TRY_VOID(signal(self));
      CO_TRY_VOID(send(self, out, payload.source(self)));
      EXPECT_FALSE(self.fabric().ready(out)) << "one message taken gave two credits";
    }
    CO_TRY_VOID(signal(self));
    CO_TRY_VOID(drain(self));
    co_return kOk;
  }
  Task<void> second(Player& self) override {
    world::Waiter in = self.waiter(Port::arrival, 0);
    for (int more = 0; more < 5; ++more) {
      CO_TRY_VOID(await_signal(self));
      CO_TRY_VOID(take(self, in, size_, 1));
    }
    CO_TRY_VOID(await_signal(self));
    for (std::uint32_t left = self.traits().credits; left > 0; --left) {
      CO_TRY_VOID(take(self, in, size_, 1));
    }
    EXPECT_FALSE(self.fabric().ready(in));
    co_return kOk;
  }
  const std::uint64_t size_;
};

TEST_P(Conformance, BlocksExactlyWhenCreditsAreUsed) {
  Credits small(8), large(slice());
  perform(small, 2);
  perform(large, 2);
}

// Nothing written is drained; a message that nobody takes on one channel does not hold another.
class Draining final : public Duet {
 private:
  Task<void> first(Player& self) override {
    world::Waiter drained = self.waiter(Port::drained, kNobody.value);
    EXPECT_TRUE(self.fabric().ready(drained)) << "nothing was written";
    world::Waiter held = self.waiter(Port::staged, 1, 1);
    Payload large(self.traits().slice_bytes);
    large.fill(1);
    CO_TRY_VOID(send(self, held, large.source(self)));
    world::Waiter out = self.waiter(Port::staged, 1);
    CO_TRY_VOID(send(self, out, large.source(self)));
    CO_TRY_VOID(drain(self));
    CO_TRY_VOID(signal(self));
    CO_TRY_VOID(drain(self, 1));
    co_return kOk;
  }
  Task<void> second(Player& self) override {
    world::Waiter in = self.waiter(Port::arrival, 0), held = self.waiter(Port::arrival, 0, 1);
    CO_TRY_VOID(take(self, in, self.traits().slice_bytes, 1));
    CO_TRY_VOID(await_signal(self));
    CO_TRY_VOID(take(self, held, self.traits().slice_bytes, 1));
    co_return kOk;
  }
};

TEST_P(Conformance, DrainsEachChannelByItself) {
  Draining script;
  perform(script, 2);
}

// Who was unparked is not resumed, and finds what it waited for when it asks.
class Unparking final : public Duet {
 private:
  Task<void> first(Player& self) override {
    CO_TRY_VOID(await_signal(self));
    world::Waiter out = self.waiter(Port::staged, 1), other = self.waiter(Port::staged, 1, 1);
    CO_TRY_VOID(send(self, out, ConstBytes()));
    CO_TRY_VOID(send(self, other, ConstBytes()));
    co_return kOk;
  }
  Task<void> second(Player& self) override {
    world::Waiter in = self.waiter(Port::arrival, 0), other = self.waiter(Port::arrival, 0, 1);
    for (world::Waiter* waiter : {&in, &other}) {
      EXPECT_FALSE(self.fabric().ready(*waiter));
      waiter->handle = std::noop_coroutine();
      self.fabric().park(*waiter);
      EXPECT_TRUE(waiter->parked);
    }
    self.fabric().unpark(in);
    EXPECT_FALSE(in.parked);
    CO_TRY_VOID(signal(self));
    while (other.parked) co_await self.pause();
    EXPECT_TRUE(self.fabric().ready(other));
    CO_TRY_VOID(take(self, in, 0, 0));
    CO_TRY_VOID(take(self, other, 0, 0));
    co_return kOk;
  }
};

TEST_P(Conformance, ForgetsWhoIsUnparked) {
  Unparking script;
  perform(script, 2);
}

// One waiter goes from peer to peer, from sending to taking and back, as an engine's does.
class Wandering final : public Script {
 public:
  Task<void> play(Player& self, std::uint32_t) override {
    const std::uint32_t n = self.ranks(), me = self.rank().value;
    world::Waiter waiter = self.waiter(Port::arrival, 0);
    Payload payload(64);
    for (std::uint32_t turn = 0; turn < 5 * n; ++turn) {
      const std::uint32_t distance = turn % n;
      payload.fill(turn * 100 + me);
      waiter.aim(Rank{(me + distance) % n}, Port::staged);
      CO_TRY_VOID(send(self, waiter, payload.source(self)));
      waiter.aim(kNobody, Port::drained);
      const std::uint32_t from = (me + n - distance) % n;
      waiter.aim(Rank{from}, Port::arrival);
      CO_TRY_VOID(take(self, waiter, 64, turn * 100 + from));
      waiter.aim(Rank{from}, Port::drained);
      co_await self.ready(waiter);
    }
    co_return kOk;
  }
};

TEST_P(Conformance, LetsOneWaiterWander) {
  Wandering script;
  perform(script, traits().most_ranks);
}

}  // namespace
}  // namespace hocket::transport::conformance
