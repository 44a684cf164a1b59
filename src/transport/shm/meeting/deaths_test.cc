// SPDX-License-Identifier: Apache-2.0
// A rank dies after each message that it says in a meeting. Whenever that is, either all others
// meet or none does, and all of them blame that rank alone. For this the kernel's sendmsg gets a
// function of this file before it.
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "testing/processes.h"
#include "transport/shm/rig_suite.h"

namespace {

int words_left = -1;  // until this process dies; negative: it does not

}  // namespace

extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  const long sent = ::syscall(SYS_sendmsg, socket, message, flags);
  if (--words_left == 0) ::raise(SIGKILL);
  return sent;
}

namespace hocket::transport::shm {
namespace {

constexpr std::uint32_t kWorld = 6;
constexpr Duration kPatience = milliseconds(400), kBound = seconds(1);

struct Death {
  std::uint32_t rank;
  int words;  ///< after so many
};

enum class Outcome : int { none, met, refused };

using Outcomes = testing::Shared<std::array<std::atomic<Outcome>, kWorld>>;

/// The failure of the communicator, soon.
std::optional<world::Failure> failure_of(world::Endpoint& endpoint) {
  host::Clock clock;
  std::optional<world::Failure> failure;
  testing::eventually(clock, kBound, [&] {
    failure = endpoint.membership().failure();
    return failure.has_value();
  });
  return failure;
}

Outcome meet_and_blame(const world::UniqueId& id, std::uint32_t rank, Rank victim) {
  Rig rig;
  Joined endpoint = rig.network.join(rig.join_of(id, rank, kWorld, kPatience));
  if (!endpoint) {
    EXPECT_EQ(endpoint.error().peer(), victim) << endpoint.error().text();
    return Outcome::refused;
  }
  const std::optional<world::Failure> failure = failure_of(**endpoint);
  EXPECT_TRUE(failure.has_value());
  if (!failure) return Outcome::met;
  EXPECT_EQ(failure->code, Code::peer_lost);
  EXPECT_EQ(failure->culprit, victim) << "so says rank " << failure->reporter.value;
  return Outcome::met;
}

class Deaths : public ::testing::TestWithParam<Death> {};

TEST_P(Deaths, BreakTheMeetingForAllOrNone) {
  const Death death = GetParam();
  Rig rig;
  const world::UniqueId id = rig.make_id();
  Outcomes outcomes;
  testing::Processes processes(rig.clock);
  for (std::uint32_t rank = 0; rank < kWorld; ++rank)
    processes.start([&] {
      if (rank == death.rank) words_left = death.words;
      (*outcomes)[rank] = meet_and_blame(id, rank, Rank{death.rank});
    });
  const std::vector<testing::End> ends = processes.join_all(seconds(10));
  int met = 0, refused = 0;
  for (std::uint32_t rank = 0; rank < kWorld; ++rank) {
    met += (*outcomes)[rank] == Outcome::met;
    refused += (*outcomes)[rank] == Outcome::refused;
    EXPECT_EQ(ends[rank].code, rank == death.rank ? -SIGKILL : 0) << ends[rank].text;
  }
  EXPECT_EQ(met + refused, static_cast<int>(kWorld) - 1);
  EXPECT_TRUE(met == 0 || refused == 0) << met << " met, " << refused << " were refused";
}

// Of rank 0: a greeting, a welcome and a go for each; of others: a hello, and that they have
// mapped.
std::vector<Death> deaths() {
  std::vector<Death> all;
  for (int words = 1; words <= 3 * (static_cast<int>(kWorld) - 1); ++words)
    all.push_back({0, words});
  for (const std::uint32_t rank : {1u, kWorld - 1})
    for (const int words : {1, 2}) all.push_back({rank, words});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Each, Deaths, ::testing::ValuesIn(deaths()), [](const auto& death) {
  return "rank_" + std::to_string(death.param.rank) + "_after_" + std::to_string(death.param.words);
});

}  // namespace
}  // namespace hocket::transport::shm
