// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "transport/shm/meeting/meeting.h"
#include "transport/shm/meeting/messages.h"
#include "transport/shm/meeting/secret.h"
#include "transport/shm/meeting/socket.h"
#include "transport/shm/rig_suite.h"

namespace hocket::transport::shm {
namespace {

// Ranks that join in threads of this process; `late` threads may be added while others wait.
class Ranks {
 public:
  explicit Ranks(Rig& rig) : rig_(rig) {}
  ~Ranks() { results(); }
  void join(world::Join join) {
    const std::size_t place = results_.size();
    results_.push_back(std::make_unique<Joined>(Error(Code::system, "not yet")));
    Joined& result = *results_[place];
    threads_.emplace_back([this, join, &result] { result = rig_.network.join(join); });
  }
  /// Of all joins, in their order; waits for them.
  std::vector<std::unique_ptr<Joined>>& results() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return results_;
  }
  /// Waits for the last one only.
  Joined& last() {
    threads_.back().join();
    threads_.pop_back();
    return *results_.back();
  }

 private:
  Rig& rig_;
  std::vector<std::thread> threads_;
  std::vector<std::unique_ptr<Joined>> results_;
};

void expect_all_joined(std::vector<std::unique_ptr<Joined>>& results) {
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < results.size(); ++r) {
    ASSERT_TRUE(results[r]->has_value()) << results[r]->error().text();
    threads.emplace_back(
        [&, r] { EXPECT_EQ(pass_on(***results[r], Rank{static_cast<std::uint32_t>(r)}), ""); });
  }
  for (std::thread& thread : threads) thread.join();
}

// Of a thousand ends that come while the other side looks, the kernel tells of some too early.
TEST(Socket, LastWordsAreHeardHoweverSoonTheEndComes) {
  constexpr int kRounds = 30'000;
  std::atomic<int> theirs = -1;  // the other end, for the thread to speak through and close
  std::thread speaker([&] {
    for (int i = 0; i < kRounds; ++i) {
      int descriptor = -1;
      while ((descriptor = theirs.exchange(-1)) < 0) std::this_thread::yield();
      Socket(File(descriptor)).send(Mapped{});
    }
  });
  int heard = 0;
  for (int i = 0; i < kRounds; ++i) {
    int pair[2];
    CHECK(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) == 0, "no sockets");
    const Socket ours{File(pair[0])};
    theirs = pair[1];
    Mapped words;
    Socket::Got got = Socket::Got::nothing;
    while (got == Socket::Got::nothing) got = ours.receive(words);
    heard += got == Socket::Got::message ? 1 : 0;
  }
  speaker.join();
  EXPECT_EQ(heard, kRounds);
}

void expect_error(const Joined& joined, Code code, const std::string& message) {
  ASSERT_FALSE(joined.has_value());
  EXPECT_EQ(joined.error().code(), code);
  EXPECT_EQ(joined.error().message(), message);
}

// A guest that speaks by hand.
class Stranger {
 public:
  Stranger(Rig& rig, const world::UniqueId& meeting) {
    const std::string name = Secret(meeting).name();
    const Instant deadline = rig.clock.now() + seconds(10);
    while (!(socket_ = connect_to(name)) && rig.clock.now() < deadline) ::sched_yield();
    EXPECT_TRUE(socket_);
    hear(greeting_);
  }
  template <class Message>
  Socket::Got hear(Message& message, File* passed = nullptr) {
    Socket::Got got;
    while ((got = socket_.receive(message, passed)) == Socket::Got::nothing) ::sched_yield();
    return got;
  }
  Hello hello(const world::UniqueId& id, const world::Join& join) const {
    Hello hello{.rank = join.rank.value, .terms = terms_of(join), .patience_ns = kForever.ns};
    hello.proof = Secret(id).prove(proven_part(hello), greeting_.nonce);
    return hello;
  }
  /// Says hello as that rank and hears a welcome; the segment that came with it.
  File sit_down(const world::Join& join) {
    socket_.send(hello(join.id, join));
    Answer welcome;
    File segment;
    EXPECT_EQ(hear(welcome, &segment), Socket::Got::message);
    EXPECT_EQ(welcome.kind, Answer::Kind::welcome);
    EXPECT_TRUE(segment);
    return segment;
  }
  Socket& socket() { return socket_; }
  void leave() { socket_ = Socket(); }

 private:
  Socket socket_;
  Greeting greeting_;
};

// Rank 0 by hand, for one guest.
class HandmadeHost {
 public:
  explicit HandmadeHost(const world::UniqueId& id) : listener_(listen_at(Secret(id).name(), 4)) {
    EXPECT_TRUE(listener_);
  }
  /// Greets the guest and hears its hello.
  void receive() {
    while (!guest_) guest_ = accept_from(listener_);
    guest_.send(Greeting{});
    hear(hello_);
  }
  template <class Message>
  void hear(Message& message) {
    while (guest_.receive(message) == Socket::Got::nothing) ::sched_yield();
  }
  /// Proven with that id.
  void welcome(const world::UniqueId& id, int segment = -1) {
    Answer welcome{.credits = kCredits};
    welcome.proof = Secret(id).prove(proven_part(welcome), hello_.nonce);
    guest_.send(welcome, segment);
  }
  void leave() { guest_ = Socket(); }
  static constexpr std::uint32_t kCredits = 8;

 private:
  const File listener_;
  Socket guest_;
  Hello hello_;
};

TEST(Meeting, RanksOfOneProcessMeet) {
  Rig rig;
  for (const std::uint32_t world : {1u, 2u, 3u, 7u, 16u}) {
    Ranks ranks(rig);
    const world::UniqueId id = rig.make_id();
    for (std::uint32_t r = 0; r < world; ++r) ranks.join(rig.join_of(id, r, world));
    expect_all_joined(ranks.results());
  }
}

TEST(Meeting, RankZeroMayComeLast) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  for (std::uint32_t r = 4; r-- > 0;) ranks.join(rig.join_of(id, r, 4));
  std::reverse(ranks.results().begin(), ranks.results().end());
  expect_all_joined(ranks.results());
}

std::string join_and_pass_on(const world::UniqueId& id, std::uint32_t rank, std::uint32_t world) {
  Rig rig;
  Joined endpoint = rig.network.join(rig.join_of(id, rank, world));
  return endpoint ? pass_on(**endpoint, Rank{rank}) : endpoint.error().text();
}

TEST(Meeting, RanksOfManyProcessesMeet) {
  Rig rig;
  for (const std::uint32_t world : {2u, 5u, 16u}) {
    const world::UniqueId id = rig.make_id();
    auto start = [&](std::uint32_t r) {
      return Child([=] { return join_and_pass_on(id, r, world); });
    };
    std::vector<decltype(start(0))> children;
    for (std::uint32_t r = 0; r < world; ++r) children.push_back(start(r));
    for (auto& child : children) EXPECT_EQ(child.end(), 0);
  }
}

TEST(Meeting, CommunicatorsMeetSideBySide) {
  Rig rig;
  constexpr std::uint32_t kCommunicators = 6, kWorld = 4;
  std::vector<std::unique_ptr<Ranks>> all;
  for (std::uint32_t c = 0; c < kCommunicators; ++c) {
    all.push_back(std::make_unique<Ranks>(rig));
    const world::UniqueId id = rig.make_id();
    for (std::uint32_t r = 0; r < kWorld; ++r) all.back()->join(rig.join_of(id, r, kWorld));
  }
  for (auto& ranks : all) expect_all_joined(ranks->results());
}

TEST(Meeting, RefusesArgumentsThatCannotBe) {
  Rig rig;
  world::Join join = rig.join_of({}, 3, 3);
  expect_error(rig.network.join(join), Code::invalid_argument, "join: rank 3 in a world of 3");
  join = rig.join_of({}, 0, 0);
  expect_error(rig.network.join(join), Code::invalid_argument,
               "join: a world of 0 ranks, where 1 to 1024 fit a machine");
  join = rig.join_of({}, 0, 1025);
  expect_error(rig.network.join(join), Code::invalid_argument,
               "join: a world of 1025 ranks, where 1 to 1024 fit a machine");
  join = rig.join_of({}, 0, 1);
  join.channels = 0;
  expect_error(rig.network.join(join), Code::invalid_argument,
               "join: 0 channels, where 1 to 256 are possible");
  join = rig.join_of({}, 0, 1);
  join.slice_bytes = std::uint64_t{1} << 31;
  expect_error(rig.network.join(join), Code::invalid_argument,
               "join: slices of 2147483648 bytes, where 1073741824 are possible");
}

TEST(Meeting, TurnsAnotherWorldAwayAndGoesOn) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  ranks.join(rig.join_of(id, 0, 3));
  ranks.join(rig.join_of(id, 1, 3));
  expect_error(
      rig.network.join(rig.join_of(id, 2, 5)), Code::invalid_argument,
      "the ranks disagree: rank 2 expects a world of 5 ranks, nodes of 0, 3 channels (one "
      "for send / recv), slices of 131072 bytes and other options of hash 0, rank 0 "
      "expects a world of 3 ranks, nodes of 0, 3 channels (one for send / recv), slices of "
      "131072 bytes and other options of hash 0");
  world::Join other_slices = rig.join_of(id, 2, 3);
  other_slices.slice_bytes = 64;
  EXPECT_EQ(rig.network.join(other_slices).error().code(), Code::invalid_argument);
  ranks.join(rig.join_of(id, 2, 3));
  expect_all_joined(ranks.results());
}

TEST(Meeting, TurnsASecondClaimantAwayAndGoesOn) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  const std::string pid = std::to_string(::getpid());
  ranks.join(rig.join_of(id, 0, 3));
  Stranger first(rig, id);
  first.socket().send(first.hello(id, rig.join_of(id, 1, 3)));
  Joined second = Error(Code::system, "not yet");
  do {  // until the first one's hello was heard
    second = rig.network.join(rig.join_of(id, 1, 3, milliseconds(1)));
  } while (second.error().code() == Code::timeout);
  expect_error(second, Code::invalid_argument,
               "rank 1 is here already (pid " + pid + "); pid " + pid + " claims to be it too");
  EXPECT_EQ(second.error().rank(), Rank{1});
  first.leave();
  ranks.join(rig.join_of(id, 1, 3));
  ranks.join(rig.join_of(id, 2, 3));
  expect_all_joined(ranks.results());
}

TEST(Meeting, RefusesASecondRankZero) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  ranks.join(rig.join_of(id, 0, 2));
  Stranger stranger(rig, id);  // rank 0 listens
  expect_error(rig.network.join(rig.join_of(id, 0, 2)), Code::invalid_argument,
               "another rank 0 is meeting under this id already");
  ranks.join(rig.join_of(id, 1, 2));
  expect_all_joined(ranks.results());
}

TEST(Meeting, RefusesWhoDoesNotKnowTheIdAndGoesOn) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  ranks.join(rig.join_of(id, 0, 2));
  Stranger stranger(rig, id);
  stranger.socket().send(stranger.hello(rig.make_id(), rig.join_of(id, 1, 2)));
  Answer answer;
  EXPECT_EQ(stranger.hear(answer), Socket::Got::message);
  EXPECT_EQ(answer.kind, Answer::Kind::refusal);
  EXPECT_EQ(static_cast<Code>(answer.code), Code::mismatch);
  EXPECT_STREQ(answer.text, "the id is not this communicator's");
  EXPECT_EQ(stranger.hear(answer), Socket::Got::end);
  ranks.join(rig.join_of(id, 1, 2));
  expect_all_joined(ranks.results());
}

// Somebody else listens under the name of our id.
TEST(Meeting, BelievesNoHostThatDoesNotKnowTheId) {
  Rig rig;
  const world::UniqueId id = rig.make_id();
  HandmadeHost host(id);
  Ranks ranks(rig);
  ranks.join(rig.join_of(id, 1, 2));
  host.receive();
  host.welcome(rig.make_id());
  expect_error(ranks.last(), Code::mismatch,
               "whoever waits under the name of this id does not know the id");
}

TEST(Meeting, OutlivesGarbage) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  ranks.join(rig.join_of(id, 0, 2));
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(std::make_unique<Stranger>(rig, id));
  for (std::size_t size : {1u, 7u, 104u, 105u, 5000u}) {
    Stranger stranger(rig, id);
    const std::vector<char> bytes(size, 'x');
    EXPECT_EQ(::write(stranger.socket().get(), bytes.data(), size), static_cast<ssize_t>(size));
    Answer answer;
    const Socket::Got got = stranger.hear(answer);
    EXPECT_TRUE(got == Socket::Got::end || answer.kind == Answer::Kind::refusal);
  }
  ranks.join(rig.join_of(id, 1, 2));
  expect_all_joined(ranks.results());
}

TEST(Meeting, TellsEverybodyWhoIsMissing) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  for (const std::uint32_t r : {0u, 1u, 3u}) ranks.join(rig.join_of(id, r, 5, milliseconds(200)));
  for (const auto& result : ranks.results()) {
    ASSERT_FALSE(result->has_value());
    const Error& error = result->error();
    EXPECT_EQ(error.code(), Code::timeout);
    EXPECT_EQ(error.peer(), Rank{2});
    const std::string expected = "2 of 5 ranks are missing at the deadline: 2, 4";
    EXPECT_EQ(error.message().substr(0, expected.size()), expected);
  }
}

TEST(Meeting, SaysWhoCameAndGaveUp) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  ranks.join(rig.join_of(id, 0, 3, milliseconds(400)));
  Joined impatient = rig.network.join(rig.join_of(id, 1, 3, milliseconds(50)));
  expect_error(impatient, Code::timeout, "1 of 3 ranks are missing at the deadline: 2");
  expect_error(ranks.last(), Code::timeout,
               "1 of 3 ranks are missing at the deadline: 2; came and gave up before: 1");
}

TEST(Meeting, SaysThatRankZeroIsMissing) {
  Rig rig;
  Joined lonely = rig.network.join(rig.join_of(rig.make_id(), 1, 2, milliseconds(50)));
  expect_error(lonely, Code::timeout,
               "rank 0 is missing: nobody waits under this id in this network namespace");
  EXPECT_EQ(lonely.error().peer(), Rank{0});
}

TEST(Meeting, FailsForAllWhenARankGoesAwayInTheEnd) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  ranks.join(rig.join_of(id, 0, 3));
  ranks.join(rig.join_of(id, 1, 3));
  Stranger deserter(rig, id);
  deserter.sit_down(rig.join_of(id, 2, 3));
  deserter.leave();
  for (const auto& result : ranks.results()) {
    expect_error(*result, Code::peer_lost, "rank 2 went away while the ranks were meeting");
    EXPECT_EQ(result->error().peer(), Rank{2});
  }
}

// Of all ranks it alone makes the segment; the others are told whose trouble that is.
TEST(Meeting, FailsForAllByRankZeroWhenItCannotMakeTheSegment) {
  Rig rig;
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  for (std::uint32_t r = 0; r < 3; ++r) ranks.join(rig.join_of(id, r, 3));
  const auto& results = ranks.results();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  for (std::uint32_t r = 0; r < 3; ++r) {
    ASSERT_FALSE(results[r]->has_value());
    const Error& error = results[r]->error();
    EXPECT_EQ(error.code(), Code::system);
    EXPECT_NE(error.message().find("(RLIMIT_FSIZE, ulimit -f)"), std::string::npos);
    EXPECT_EQ(error.rank(), Rank{r});
    EXPECT_EQ(error.peer(), r == 0 ? std::nullopt : std::optional(Rank{0})) << error.text();
  }
}

// A rank that was held up after it had mapped, and gave up, as rank 0 was about to say go.
TEST(Meeting, FailsForAllWhenARankHasGivenUpOnTheBoard) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  const world::Join join = rig.join_of(id, 2, 3);
  ranks.join(rig.join_of(id, 0, 3));
  ranks.join(rig.join_of(id, 1, 3));
  Stranger late(rig, id);
  const Shape shape = shape_of(join, rig.node.options().credits);
  Result<Place> place = Place::take(rig.node, Rank{2}, shape, late.sit_down(join));
  ASSERT_TRUE(place.has_value()) << place.error().text();
  EXPECT_EQ(place->segment().give_up(Rank{2}), Rank{2});
  late.socket().send(Mapped{});
  for (const auto& result : ranks.results()) {
    expect_error(*result, Code::peer_lost, "rank 2 went away while the ranks were meeting");
    EXPECT_EQ(result->error().peer(), Rank{2});
  }
  EXPECT_EQ(place->segment().conclude(), Rank{2});
}

// The meeting has succeeded; what a rank has not heard of it is on the board.
TEST(Meeting, SucceedsWithoutTheLastWordOfRankZero) {
  Rig rig;
  const world::UniqueId id = rig.make_id();
  HandmadeHost host(id);
  Ranks ranks(rig);
  ranks.join(rig.join_of(id, 1, 2));
  host.receive();
  const Shape shape = shape_of(rig.join_of(id, 0, 2), HandmadeHost::kCredits);
  Result<File> file = Segment::create(shape);
  ASSERT_TRUE(file.has_value()) << file.error().text();
  Result<Place> place = Place::take(rig.node, Rank{0}, shape, *std::move(file));
  ASSERT_TRUE(place.has_value()) << place.error().text();
  host.welcome(id, place->descriptor());
  Mapped mapped;
  host.hear(mapped);
  EXPECT_EQ(place->segment().conclude(), std::nullopt);
  host.leave();
  const Joined& joined = ranks.last();
  EXPECT_TRUE(joined.has_value()) << joined.error().text();
}

TEST(Meeting, TellsASecondClaimantWhoComesAtTheEndThatItsSeatIsTaken) {
  Rig rig;
  Ranks ranks(rig);
  const world::UniqueId id = rig.make_id();
  ranks.join(rig.join_of(id, 0, 2));
  Stranger claimant(rig, id), first(rig, id);
  first.sit_down(rig.join_of(id, 1, 2));
  claimant.socket().send(claimant.hello(id, rig.join_of(id, 1, 2)));
  first.socket().send(Mapped{});
  Answer answer;
  EXPECT_EQ(claimant.hear(answer), Socket::Got::message);
  const std::string pid = std::to_string(::getpid());
  EXPECT_EQ(answer.text,
            "rank 1 is here already (pid " + pid + "); pid " + pid + " claims to be it too");
  EXPECT_TRUE(ranks.last().has_value());
}

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST(Meeting, LeavesNothingBehind) {
  Rig rig;
  const std::size_t files = entries("/proc/self/fd"), shared = entries("/dev/shm");
  for (int i = 0; i < 10; ++i) {
    Ranks ranks(rig);
    const world::UniqueId id = rig.make_id();
    for (std::uint32_t r = 0; r < 4; ++r) ranks.join(rig.join_of(id, r, 4));
    expect_all_joined(ranks.results());
    EXPECT_EQ(entries("/dev/shm"), shared);
    EXPECT_LE(entries("/proc/self/fd"), files + 4);
    Ranks failing(rig);
    for (std::uint32_t r = 0; r < 3; ++r)
      failing.join(rig.join_of(rig.make_id(), r, 4, milliseconds(1)));
  }
  EXPECT_EQ(entries("/proc/self/fd"), files);
  EXPECT_EQ(entries("/dev/shm"), shared);
}

TEST(Meeting, RefusesTwoNodesInOneProcess) {
  Rig rig, other;
  Ranks ranks(rig), others(other);
  const world::UniqueId id = rig.make_id();
  ranks.join(rig.join_of(id, 0, 2));
  others.join(rig.join_of(id, 1, 2));
  expect_error(others.last(), Code::invalid_usage,
               "join: rank 0 is in this process but under another Node");
  expect_error(ranks.last(), Code::invalid_usage,
               "join: rank 1 is in this process but under another Node");
}

TEST(Secrets, NamesGiveNothingAwayAndProofsFitTheirNonce) {
  world::UniqueId id{};
  id[5] = std::byte{7};
  world::UniqueId other = id;
  other[127] = std::byte{1};
  const Secret secret(id);
  EXPECT_EQ(secret.name().size(), 7u + 32u);
  EXPECT_EQ(secret.name(), Secret(id).name());
  EXPECT_NE(secret.name(), Secret(other).name());
  const std::byte message[3] = {};
  Nonce nonce{}, another{};
  another[0] = std::byte{1};
  const Proof proof = secret.prove({message, 3}, nonce);
  EXPECT_TRUE(secret.verify(proof, {message, 3}, nonce));
  EXPECT_FALSE(secret.verify(proof, {message, 2}, nonce));
  EXPECT_FALSE(secret.verify(proof, {message, 3}, another));
  EXPECT_FALSE(Secret(other).verify(proof, {message, 3}, nonce));
}

}  // namespace
}  // namespace hocket::transport::shm
