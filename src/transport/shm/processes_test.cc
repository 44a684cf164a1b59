// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes: their deaths, their forks, their namespaces. A test whose namespace the
// kernel does not give to us is skipped and says so.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "testing/processes.h"
#include "transport/shm/rig_suite.h"

namespace hocket::transport::shm {
namespace {

using world::Port;

constexpr Duration kBound = seconds(1);

struct Member {
  std::uint32_t rank, world;
};

std::string join_then(const world::UniqueId& id, Member member, const Options& options,
                      std::string (*then)(world::Endpoint&, Rank)) {
  Rig rig(options);
  Joined endpoint = rig.network.join(rig.join_of(id, member.rank, member.world));
  return endpoint ? then(**endpoint, Rank{member.rank}) : endpoint.error().text();
}

std::string passes_on(world::Endpoint& endpoint, Rank me) { return pass_on(endpoint, me); }

std::string passes_on_and_sleeps(world::Endpoint& endpoint, Rank me) {
  std::string complaint = pass_on(endpoint, me);
  if (complaint.empty()) ::pause();
  return complaint;
}

// Waits for rank 1, which must be found dead in time.
void expect_death_of_rank_1(world::Endpoint& endpoint, Rank me) {
  host::Clock clock;
  const Instant start = clock.now();
  world::Waiter in = waiter_of(me, Rank{1}, Port::arrival);
  ASSERT_TRUE(wait_until_ready(endpoint, in));
  EXPECT_LE(clock.now() - start, kBound);
  Result<ConstBytes> bytes = endpoint.fabric().front(in, 8);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code(), Code::peer_lost);
  EXPECT_EQ(bytes.error().peer(), Rank{1});
  EXPECT_EQ(bytes.error().message().substr(0, 20), "rank 1's process (pi");
  const std::optional<world::Failure> failure = endpoint.membership().failure();
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->code, Code::peer_lost);
  EXPECT_EQ(failure->culprit, Rank{1});
}

TEST(Processes, AreFoundDeadWhenKilled) {
  Rig rig;
  const world::UniqueId id = rig.make_id();
  Child victim([&] { return join_then(id, {1, 2}, {}, passes_on_and_sleeps); });
  Joined endpoint = rig.network.join(rig.join_of(id, 0, 2));
  ASSERT_TRUE(endpoint.has_value()) << endpoint.error().text();
  ASSERT_EQ(pass_on(**endpoint, Rank{0}), "");
  victim.kill();
  expect_death_of_rank_1(**endpoint, Rank{0});
}

TEST(Processes, AreFoundDeadWhenTheyEndWithoutLeaving) {
  Rig rig;
  const world::UniqueId id = rig.make_id();
  Child victim([&] {
    return join_then(id, {1, 2}, {}, [](world::Endpoint& endpoint, Rank me) {
      ::_exit(pass_on(endpoint, me).empty() ? 0 : 1);
      return std::string();
    });
  });
  Joined endpoint = rig.network.join(rig.join_of(id, 0, 2));
  ASSERT_TRUE(endpoint.has_value()) << endpoint.error().text();
  ASSERT_EQ(pass_on(**endpoint, Rank{0}), "");
  expect_death_of_rank_1(**endpoint, Rank{0});
}

// A child that the dead process forked still has all of its descriptors and mappings.
TEST(Processes, AreFoundDeadThoughTheirChildrenLive) {
  static testing::Shared<std::atomic<pid_t>> orphan;
  Rig rig;
  const world::UniqueId id = rig.make_id();
  Child victim([&] {
    return join_then(id, {1, 2}, {}, [](world::Endpoint& endpoint, Rank me) {
      std::string complaint = pass_on(endpoint, me);
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(30);
        ::pause();
        ::_exit(0);
      }
      *orphan = child;
      ::raise(SIGKILL);
      return complaint;
    });
  });
  Joined endpoint = rig.network.join(rig.join_of(id, 0, 2));
  ASSERT_TRUE(endpoint.has_value()) << endpoint.error().text();
  ASSERT_EQ(pass_on(**endpoint, Rank{0}), "");
  expect_death_of_rank_1(**endpoint, Rank{0});
  EXPECT_EQ(::kill(*orphan, SIGKILL), 0) << "the orphan did not live";
}

// A fork after the join leaves the parent intact, also when the child ends as programs do.
TEST(Processes, OutliveTheirChildren) {
  Rig rig;
  const world::UniqueId id = rig.make_id();
  Child peer([&] { return join_then(id, {1, 2}, {}, passes_on); });
  Joined endpoint = rig.network.join(rig.join_of(id, 0, 2));
  ASSERT_TRUE(endpoint.has_value()) << endpoint.error().text();
  Child child([&] {
    endpoint.value().reset();
    return std::string();
  });
  EXPECT_EQ(child.end(), 0);
  EXPECT_EQ(pass_on(**endpoint, Rank{0}), "");
  EXPECT_EQ(peer.end(), 0);
}

TEST(Processes, AreOthersThanTheirParents) {
  Rig rig;
  const Identity parent = rig.node.identity().value();
  EXPECT_EQ(rig.node.identity().value(), parent);
  Child child([&] {
    const Identity own = rig.node.identity().value();
    const bool is_other = own.pid == ::getpid() && own.cookie != parent.cookie;
    return std::string(is_other ? "" : "a child with its parent's identity");
  });
  EXPECT_EQ(child.end(), 0);
}

// A table of descriptors that grows later holds up whoever needs the next one.
TEST(Processes, HaveRoomForDescriptorsFromTheStart) {
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const Rig rig;
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "FDSize:") continue;
  std::uint64_t room = 0;
  ASSERT_TRUE(status >> room);
  EXPECT_GE(room, std::min<std::uint64_t>(limit.rlim_cur, 1024));
}

// ---- namespaces
// ----------------------------------------------------------------------------------

struct Apart {
  const char* name;
  int flags;
};

// How a child says that the kernel refused it something, and why.
constexpr int kRefused = 100;

std::optional<std::string> refusal(int status) {
  if (!WIFEXITED(status) || WEXITSTATUS(status) < kRefused) return std::nullopt;
  return std::string("the kernel refuses: ") + std::strerror(WEXITSTATUS(status) - kRefused);
}

// Runs `main` as a process in new namespaces.
template <class Main>
std::string in_namespaces(int flags, Main main) {
  if (::unshare(flags) != 0) ::_exit(kRefused + errno);
  const pid_t child = ::fork();  // the first process of a new pid namespace
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string complaint = main();
    say(complaint);
    ::_exit(complaint.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "the process inside failed";
}

class Namespaces : public ::testing::TestWithParam<Apart> {};

TEST_P(Namespaces, MayDiffer) {
  Rig rig;
  const world::UniqueId id = rig.make_id();
  auto start = [&](std::uint32_t rank) {
    return Child([&id, rank] {
      return in_namespaces(GetParam().flags,
                           [&] { return join_then(id, {rank, 3}, {}, passes_on); });
    });
  };
  auto first = start(1), second = start(2);
  Joined endpoint = rig.network.join(rig.join_of(id, 0, 3, seconds(5)));
  if (!endpoint) {
    if (const auto why = refusal(first.end())) GTEST_SKIP() << *why;
    FAIL() << endpoint.error().text();
  }
  EXPECT_EQ(pass_on(**endpoint, Rank{0}), "");
  EXPECT_EQ(first.end(), 0);
  EXPECT_EQ(second.end(), 0);
}

TEST_P(Namespaces, DoNotHideADeath) {
  Rig rig;
  const world::UniqueId id = rig.make_id();
  Child victim([&] {
    return in_namespaces(GetParam().flags,
                         [&] { return join_then(id, {1, 2}, {}, passes_on_and_sleeps); });
  });
  Joined endpoint = rig.network.join(rig.join_of(id, 0, 2, seconds(5)));
  if (!endpoint) {
    if (const auto why = refusal(victim.end())) GTEST_SKIP() << *why;
    FAIL() << endpoint.error().text();
  }
  ASSERT_EQ(pass_on(**endpoint, Rank{0}), "");
  victim.kill();  // and, through it, the process inside
  expect_death_of_rank_1(**endpoint, Rank{0});
}

INSTANTIATE_TEST_SUITE_P(Each, Namespaces,
                         ::testing::Values(Apart{"Pid", CLONE_NEWPID}, Apart{"Ipc", CLONE_NEWIPC},
                                           Apart{"User", CLONE_NEWUSER},
                                           Apart{"All", CLONE_NEWUSER | CLONE_NEWPID |
                                                            CLONE_NEWIPC | CLONE_NEWNS}),
                         [](const auto& apart) { return apart.param.name; });

TEST(Processes, OfAnotherNetworkNamespaceAreToldSo) {
  Rig rig;
  const world::UniqueId id = rig.make_id();
  Child apart([&] {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(kRefused + errno);
    Rig inside;
    Joined endpoint = inside.network.join(inside.join_of(id, 1, 2, milliseconds(200)));
    if (endpoint) return std::string("it joined");
    const std::string expected =
        "rank 0 is missing: nobody waits under this id in this network namespace";
    return endpoint.error().message() == expected ? "" : endpoint.error().text();
  });
  Joined endpoint = rig.network.join(rig.join_of(id, 0, 2, milliseconds(300)));
  ASSERT_FALSE(endpoint.has_value());
  EXPECT_EQ(endpoint.error().message(), "1 of 2 ranks are missing at the deadline: 1");
  const int status = apart.end();
  if (const auto why = refusal(status)) GTEST_SKIP() << *why;
  EXPECT_EQ(status, 0);
}

// Nothing here needs /dev/shm: 128 MiB go through the segment where it has room for a page.
TEST(Processes, NeedNoRoomInDevShm) {
  Child outside([] {
    const bool is_given = ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
                          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=4k") == 0;
    if (!is_given) ::_exit(kRefused + errno);
    Rig rig;
    const world::UniqueId id = rig.make_id();
    const auto pass_much = [](world::Endpoint& endpoint, Rank me) {
      std::string complaint;
      for (int i = 0; i < 1024 && complaint.empty(); ++i) complaint = pass_on(endpoint, me);
      return complaint;
    };
    Child peer([&] { return join_then(id, {1, 2}, {.cross_memory = false}, pass_much); });
    const std::string complaint = join_then(id, {0, 2}, {.cross_memory = false}, pass_much);
    return peer.end() == 0 ? complaint : "the peer failed";
  });
  const int status = outside.end();
  if (const auto why = refusal(status)) GTEST_SKIP() << *why;
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hocket::transport::shm
