// SPDX-License-Identifier: Apache-2.0
// That messages arrive: all of them, in order, whole, of every size, from every memory, both ways
// at once, on many channels; and that what arrives is checked against what was expected.
#include <algorithm>
#include <vector>

#include "transport/conformance/messages.h"
#include "transport/conformance/suite.h"

namespace hocket::transport::conformance {
namespace {

using world::Port;

// Sizes around every threshold that a transport is likely to have, `most` at most and included.
std::vector<std::uint64_t> sizes_to(std::uint64_t most) {
  std::vector<std::uint64_t> sizes{0, 1, 3, 8, 15};
  for (std::uint64_t n = 16; n <= most; n *= 2)
    for (const std::uint64_t size : {n - 1, n, n + 1, n + n / 2}) sizes.push_back(size);
  std::erase_if(sizes, [most](std::uint64_t size) { return size > most; });
  sizes.push_back(most);
  return sizes;
}

// Every rank has a voice that sends and one that takes, to and from its neighbours in a ring.
class Ring : public Script {
 public:
  std::uint32_t voices(Rank) const override { return 2; }
  Task<void> play(Player& self, std::uint32_t voice) override {
    const std::uint32_t n = self.ranks(), me = self.rank().value;
    return voice == 0 ? sends(self, (me + 1) % n) : takes(self, (me + n - 1) % n);
  }

 private:
  virtual Task<void> sends(Player& self, std::uint32_t to) = 0;
  virtual Task<void> takes(Player& self, std::uint32_t from) = 0;
};

class Numbered final : public Ring {
 public:
  explicit Numbered(Port port) : port_(port) {}

 private:
  static constexpr std::uint64_t kMessages = 300;
  Task<void> sends(Player& self, std::uint32_t to) override {
    world::Waiter out = self.waiter(port_, to);
    std::vector<Payload> payloads(kMessages, Payload(24));
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      payloads[i].fill(i);
      CO_TRY_VOID(send(self, out, payloads[i].source(self)));
    }
    CO_TRY_VOID(drain(self));
    co_return kOk;
  }
  Task<void> takes(Player& self, std::uint32_t from) override {
    Result<void> entered = self.fabric().enter({OpSeq{1}, {}});
    if (!entered) co_return std::move(entered).error();
    world::Waiter in = self.waiter(Port::arrival, from);
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      CO_TRY_VOID(take(self, in, 24, i));
    }
    co_return kOk;
  }
  const Port port_;
};

TEST_P(Conformance, ArrivesInOrder) {
  Numbered script(Port::staged);
  perform(script, 2);
}

TEST_P(Conformance, LandsInOrder) {
  Numbered script(Port::landing);
  perform(script, 3);
}

// Each size from and to memory at odd addresses, looked at and landed.
class AllSizes final : public Ring {
 private:
  Task<void> sends(Player& self, std::uint32_t to) override {
    world::Waiter out = self.waiter(Port::staged, to);
    for (const std::uint64_t size : sizes_to(self.traits().slice_bytes)) {
      for (const std::uint64_t shift : {0u, 1u, 16u}) {
        Payload payload(size, shift);
        payload.fill(size + shift);
        for (const Port port : {Port::staged, Port::landing}) {
          out.aim(out.peer, port);
          CO_TRY_VOID(send(self, out, payload.source(self)));
        }
        CO_TRY_VOID(drain(self));
      }
    }
    co_return kOk;
  }
  Task<void> takes(Player& self, std::uint32_t from) override {
    Result<void> entered = self.fabric().enter({OpSeq{1}, {}});
    if (!entered) co_return std::move(entered).error();
    world::Waiter in = self.waiter(Port::arrival, from);
    for (const std::uint64_t size : sizes_to(self.traits().slice_bytes)) {
      for (const std::uint64_t shift : {0u, 1u, 16u}) {
        CO_TRY_VOID(take(self, in, size, size + shift));
        Payload target(size, 17 - shift);
        CO_TRY_VOID(take_into(self, in, target, size + shift));
      }
    }
    co_return kOk;
  }
};

TEST_P(Conformance, CarriesEverySize) {
  AllSizes script;
  perform(script, 2);
}

class Signals final : public Ring {
 private:
  static constexpr int kSignals = 100;
  Task<void> sends(Player& self, std::uint32_t to) override {
    world::Waiter out = self.waiter(Port::staged, to);
    for (int i = 0; i < kSignals; ++i) {
      CO_TRY_VOID(send(self, out, ConstBytes()));
    }
    co_return kOk;
  }
  Task<void> takes(Player& self, std::uint32_t from) override {
    world::Waiter in = self.waiter(Port::arrival, from);
    for (int i = 0; i < kSignals; ++i) {
      co_await self.ready(in);
      Result<ConstBytes> bytes = self.fabric().front(in, 0);
      if (!bytes) co_return std::move(bytes).error();
      EXPECT_EQ(bytes->size, 0u);
      Result<void> landed = self.fabric().land(in, {});
      if (!landed) co_return std::move(landed).error();
      self.fabric().pop(in);
    }
    EXPECT_FALSE(self.fabric().ready(in)) << "more signals than were sent";
    co_return kOk;
  }
};

TEST_P(Conformance, CarriesSignalsWithoutBytes) {
  Signals script;
  perform(script, 2);
}

// Large messages both ways between every pair at the same time, on every channel.
class Crossing final : public Script {
 public:
  std::uint32_t voices(Rank) const override { return kVoices; }
  Task<void> play(Player& self, std::uint32_t voice) override {
    const auto channel = static_cast<std::uint16_t>(voice / 2);
    return voice % 2 == 0 ? sends(self, channel) : takes(self, channel);
  }

 private:
  static constexpr std::uint32_t kVoices = 6, kRounds = 8;
  static std::uint64_t seed(std::uint32_t round, std::uint16_t channel) {
    return round * 10 + channel;
  }
  Task<void> sends(Player& self, std::uint16_t channel) {
    world::Waiter out = self.waiter(Port::landing, 0, channel);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      Payload payload(self.traits().slice_bytes);
      payload.fill(seed(round, channel) + self.rank().value * 1000);
      for (std::uint32_t peer = 0; peer < self.ranks(); ++peer) {
        if (Rank{peer} == self.rank()) continue;
        out.aim(Rank{peer}, Port::staged);
        CO_TRY_VOID(send(self, out, payload.source(self)));
      }
      CO_TRY_VOID(drain(self, channel));
    }
    co_return kOk;
  }
  Task<void> takes(Player& self, std::uint16_t channel) {
    world::Waiter in = self.waiter(Port::arrival, 0, channel);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::uint32_t i = 1; i < self.ranks(); ++i) {
        const std::uint32_t peer = (self.rank().value + i) % self.ranks();
        in.aim(Rank{peer}, Port::arrival);
        const std::uint64_t from = seed(round, channel) + peer * 1000;
        CO_TRY_VOID(take(self, in, self.traits().slice_bytes, from));
      }
    }
    co_return kOk;
  }
};

TEST_P(Conformance, CrossesBothWaysOnEveryChannel) {
  Crossing script;
  perform(script, 2);
  perform(script, std::min(traits().most_ranks, 4u));
}

// Everybody tells all others the same, of every size, whoever is slow to take it; and nothing that
// is written later gets into what somebody has not taken yet.
class Telling final : public Script {
 public:
  std::uint32_t voices(Rank) const override { return 2; }
  Task<void> play(Player& self, std::uint32_t voice) override {
    return voice == 0 ? tells(self) : hears(self);
  }

 private:
  static std::uint64_t seed(std::uint64_t size, std::uint32_t from) { return size * 10 + from; }
  Task<void> tells(Player& self) {
    for (int round = 0; round < 4; ++round) {
      for (const std::uint64_t size : sizes_to(self.traits().slice_bytes)) {
        CO_TRY_VOID(tell(self, size));
      }
    }
    co_return kOk;
  }
  Task<void> tell(Player& self, std::uint64_t size) {
    const std::uint32_t n = self.ranks(), me = self.rank().value;
    world::Waiter out = self.waiter(Port::staged, (me + 1) % n);
    Payload payload(size);
    payload.fill(seed(size, me));
    CO_TRY_VOID(send(self, out, payload.source(self)));
    for (std::uint32_t i = 2; i < n; ++i) {
      out.aim(Rank{(me + i) % n}, Port::staged);
      CO_TRY_VOID(send_again(self, out, payload.source(self)));
    }
    CO_TRY_VOID(drain(self));
    payload.fill(~size);
    co_return kOk;
  }
  Task<void> hears(Player& self) {
    for (int round = 0; round < 4; ++round) {
      for (const std::uint64_t size : sizes_to(self.traits().slice_bytes)) {
        CO_TRY_VOID(idle(self, self.rank().value));
        CO_TRY_VOID(hear(self, size));
      }
    }
    co_return kOk;
  }
  Task<void> hear(Player& self, std::uint64_t size) {
    world::Waiter in = self.waiter(Port::arrival, 0);
    for (std::uint32_t from = 0; from < self.ranks(); ++from) {
      if (Rank{from} == self.rank()) continue;
      in.aim(Rank{from}, Port::arrival);
      CO_TRY_VOID(take(self, in, size, seed(size, from)));
    }
    co_return kOk;
  }
};

TEST_P(Conformance, TellsSeveralTheSame) {
  Telling script;
  perform(script, 2);
  perform(script, std::min(traits().most_ranks, 4u));
}

// A rank may be its own peer.
class ToItself final : public Script {
 public:
  std::uint32_t voices(Rank) const override { return 2; }
  Task<void> play(Player& self, std::uint32_t voice) override {
    return voice == 0 ? sends(self) : takes(self);
  }

 private:
  Task<void> sends(Player& self) {
    world::Waiter out = self.waiter(Port::staged, self.rank().value);
    Payload payload(self.traits().slice_bytes);
    payload.fill(7);
    for (int i = 0; i < 20; ++i) {
      CO_TRY_VOID(send(self, out, payload.source(self)));
    }
    CO_TRY_VOID(drain(self));
    co_return kOk;
  }
  Task<void> takes(Player& self) {
    world::Waiter in = self.waiter(Port::arrival, self.rank().value);
    for (int i = 0; i < 20; ++i) {
      CO_TRY_VOID(take(self, in, self.traits().slice_bytes, 7));
    }
    co_return kOk;
  }
};

TEST_P(Conformance, ReachesItself) {
  ToItself script;
  perform(script, 1);
}

class Mismatched final : public Script {
 public:
  Task<void> play(Player& self, std::uint32_t) override {
    return self.rank() == Rank{0} ? sends(self) : takes(self);
  }

 private:
  Task<void> sends(Player& self) {
    world::Waiter out = self.waiter(Port::staged, 1);
    Payload small(40), large(self.traits().slice_bytes);
    small.fill(1);
    large.fill(2);
    CO_TRY_VOID(send(self, out, small.source(self)));
    CO_TRY_VOID(send(self, out, large.source(self)));
    CO_TRY_VOID(drain(self));
    co_return kOk;
  }
  Task<void> takes(Player& self) {
    world::Waiter in = self.waiter(Port::arrival, 0);
    const std::uint64_t large = self.traits().slice_bytes;
    co_await self.ready(in);
    expect_mismatch(self.fabric().front(in, 36).error(), 40, 36);
    CO_TRY_VOID(take(self, in, 40, 1));
    co_await self.ready(in);
    Payload target(large - 1);
    target.fill(3);
    expect_mismatch(self.fabric().land(in, target.target(self)).error(), large, large - 1);
    EXPECT_TRUE(target.holds(3)) << "a message of the wrong size was stored";
    CO_TRY_VOID(take(self, in, large, 2));
    co_return kOk;
  }
  static void expect_mismatch(const Error& error, std::uint64_t sent, std::uint64_t expected) {
    EXPECT_EQ(error.code(), Code::mismatch);
    EXPECT_EQ(error.peer(), Rank{0});
    EXPECT_NE(error.message().find(std::to_string(sent)), std::string::npos) << error.text();
    EXPECT_NE(error.message().find(std::to_string(expected)), std::string::npos) << error.text();
  }
};

TEST_P(Conformance, RefusesAnotherSizeThanExpected) {
  Mismatched script;
  perform(script, 2);
}

// The source belongs to the sender again once the channel is drained, taken or not.
class Reused final : public Ring {
 private:
  static constexpr std::uint64_t kRounds = 30;
  static std::uint64_t size_of(const Player& self, std::uint64_t i) {
    const std::uint64_t most = self.traits().slice_bytes;
    return std::vector<std::uint64_t>{40, 1000, 20'000, most}[i % 4] % (most + 1);
  }
  Task<void> sends(Player& self, std::uint32_t to) override {
    world::Waiter out = self.waiter(Port::staged, to);
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      Payload payload(size_of(self, i));
      payload.fill(i);
      CO_TRY_VOID(send(self, out, payload.source(self)));
      CO_TRY_VOID(drain(self));
      payload.fill(~i);
    }
    co_return kOk;
  }
  Task<void> takes(Player& self, std::uint32_t from) override {
    world::Waiter in = self.waiter(Port::arrival, from);
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      CO_TRY_VOID(idle(self, 20));
      CO_TRY_VOID(take(self, in, size_of(self, i), i));
    }
    co_return kOk;
  }
};

TEST_P(Conformance, GivesTheSourceBackOnceDrained) {
  Reused script;
  perform(script, 2);
}

}  // namespace
}  // namespace hocket::transport::conformance
