// SPDX-License-Identifier: Apache-2.0
// How ranks set up a domain and enqueue in it, under a driver that is not there: its memory is the
// host's, its launches are written down.
#include "device/cuda/member.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/fake_driver_suite.h"

namespace hocket::cuda {
namespace {

/// What the fake holds: functions without captures have nowhere else to keep it.
struct Machine {
  struct Launch {
    Stream stream;
    kernels::Domain domain;
  };
  std::vector<Launch> launches;
  std::vector<std::string> steps;  ///< of streams and events, in words
  std::vector<Address> freed, opened, closed;
  Context context = nullptr;
  int contexts_retained = 0, modules = 0;
  Address no_memory_for = 0;  ///< an allocation of that many bytes fails
  std::uint64_t graph = 0;    ///< that streams are captured into
  std::uint64_t reused = 0;   ///< between a stream's handle and its id
  bool reaches = true;
  Status launched = Status::success;
};
Machine* machine = nullptr;

std::string name_of(Stream stream) {
  return std::to_string(reinterpret_cast<std::uintptr_t>(stream));
}
template <class Handle>
Handle numbered(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

/// Aligned as the driver does it.
void* aligned(std::size_t bytes) {
  constexpr std::size_t kLine = 512;
  return std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
}

void set_memory(FakeDriver& fake) {
  fake.set("cuMemAlloc_v2", [](Address* address, std::size_t bytes) {
    if (bytes == machine->no_memory_for) return Status::out_of_memory;
    *address = reinterpret_cast<Address>(aligned(bytes));
    return Status::success;
  });
  fake.set("cuMemFree_v2", [](Address address) {
    machine->freed.push_back(address);
    std::free(reinterpret_cast<void*>(address));
    return Status::success;
  });
  fake.set("cuMemHostAlloc", [](void** memory, std::size_t bytes, unsigned) {
    *memory = aligned(bytes);
    return Status::success;
  });
  fake.set("cuMemFreeHost", [](void* memory) {
    std::free(memory);
    return Status::success;
  });
  fake.set("cuMemHostGetDevicePointer_v2", [](Address* address, void* host, unsigned) {
    *address = reinterpret_cast<Address>(host);
    return Status::success;
  });
  fake.set("cuMemsetD8Async", [](Address address, unsigned char value, std::size_t bytes, Stream) {
    std::memset(reinterpret_cast<void*>(address), value, bytes);
    return Status::success;
  });
  fake.set("cuIpcGetMemHandle", [](IpcHandle* handle, Address address) {
    std::memcpy(handle->bytes, &address, sizeof address);
    return Status::success;
  });
  fake.set("cuIpcOpenMemHandle_v2", [](Address* address, IpcHandle handle, unsigned) {
    std::memcpy(address, handle.bytes, sizeof *address);
    machine->opened.push_back(*address);
    return Status::success;
  });
  fake.set("cuIpcCloseMemHandle", [](Address address) {
    machine->closed.push_back(address);
    return Status::success;
  });
}

void set_streams(FakeDriver& fake) {
  fake.set("cuStreamCreate", [](Stream* stream, unsigned) {
    *stream = numbered<Stream>(99);
    return Status::success;
  });
  for (const char* const name : {"cuStreamDestroy_v2", "cuStreamSynchronize"})
    fake.set(name, [](Stream) { return Status::success; });
  fake.set("cuStreamGetCaptureInfo", [](Stream, CaptureStatus* status, std::uint64_t* id) {
    *status = machine->graph != 0 ? CaptureStatus::active : CaptureStatus::none;
    *id = machine->graph;
    return Status::success;
  });
  fake.set("cuStreamGetId", [](Stream stream, std::uint64_t* id) {
    if (machine->graph != 0) return Status::invalid_value;
    *id = reinterpret_cast<std::uintptr_t>(stream) + machine->reused;
    return Status::success;
  });
  fake.set("cuStreamWaitEvent", [](Stream stream, Event, unsigned) {
    machine->steps.push_back(name_of(stream) + " waits");
    return Status::success;
  });
  fake.set("cuEventCreate", [](Event* event, unsigned) {
    *event = numbered<Event>(7);
    return Status::success;
  });
  fake.set("cuEventDestroy_v2", [](Event) { return Status::success; });
  fake.set("cuEventRecord", [](Event, Stream) { return Status::success; });
  fake.set("cuThreadExchangeStreamCaptureMode", [](int*) { return Status::success; });
}

void set_contexts(FakeDriver& fake) {
  fake.set("cuCtxGetCurrent", [](Context* context) {
    *context = machine->context;
    return Status::success;
  });
  fake.set("cuCtxSetCurrent", [](Context context) {
    machine->context = context;
    return Status::success;
  });
  fake.set("cuCtxEnablePeerAccess", [](Context peer, unsigned) {
    machine->steps.push_back("maps " + std::to_string(reinterpret_cast<std::uintptr_t>(peer)));
    return Status::peer_access_already_enabled;
  });
  fake.set("cuCtxGetDevice", [](Device* device) {  // contexts have their device's number and ten
    *device = static_cast<Device>(reinterpret_cast<std::uintptr_t>(machine->context)) - 10;
    return Status::success;
  });
  fake.set("cuDeviceGet", [](Device* device, int ordinal) {
    *device = ordinal;
    return Status::success;
  });
  fake.set("cuDeviceCanAccessPeer", [](int* reaches, Device, Device) {
    *reaches = machine->reaches;
    return Status::success;
  });
  fake.set("cuDevicePrimaryCtxRetain", [](Context* context, Device device) {
    ++machine->contexts_retained;
    *context = numbered<Context>(static_cast<std::uintptr_t>(device) + 10);
    return Status::success;
  });
  fake.set("cuDevicePrimaryCtxRelease_v2", [](Device) {
    --machine->contexts_retained;
    return Status::success;
  });
}

void set_modules(FakeDriver& fake) {
  fake.set("cuModuleLoadData", [](ModuleHandle* handle, const void*) {
    ++machine->modules;
    *handle = numbered<ModuleHandle>(5);
    return Status::success;
  });
  fake.set("cuModuleUnload", [](ModuleHandle) {
    --machine->modules;
    return Status::success;
  });
  fake.set("cuModuleGetFunction", [](Function* function, ModuleHandle, const char*) {
    *function = numbered<Function>(6);
    return Status::success;
  });
  fake.set("cuLaunchKernel", [](Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, unsigned, Stream stream, void** parameters, void**) {
    if (machine->launched != Status::success) return machine->launched;
    machine->steps.push_back(name_of(stream) + " runs");
    machine->launches.push_back({stream, *static_cast<const kernels::Domain*>(parameters[0])});
    return Status::success;
  });
}

FakeDriver make_driver() {
  FakeDriver fake;
  set_memory(fake);
  set_streams(fake);
  set_contexts(fake);
  set_modules(fake);
  return fake;
}

class MemberTest : public ::testing::Test {
 protected:
  MemberTest() { machine = &machine_; }
  ~MemberTest() override { machine = nullptr; }

  MemberOptions options(std::uint32_t rank) const {
    MemberOptions options;
    options.me = Rank{rank};
    options.process = {1, 1};
    options.communicator = 77;
    options.large = {4096, 8192, 32 << 10};
    options.small = {1024, 1024, 16 << 10};
    return options;
  }
  std::unique_ptr<Member> make(const MemberOptions& options, std::uintptr_t context = 10) {
    machine_.context = numbered<Context>(context);
    Result<std::unique_ptr<Member>> made = Member::make(contexts_, options);
    EXPECT_TRUE(made) << made.error().text();
    return *std::move(made);
  }
  /// Two ranks that are connected.
  void connect(std::unique_ptr<Member>& a, std::unique_ptr<Member>& b) {
    const Card cards[] = {a->card(), b->card()};
    for (Member* const member : {a.get(), b.get()}) {
      const Result<void> connected = member->connect(cards);
      EXPECT_TRUE(connected) << connected.error().text();
    }
  }
  Result<void> enqueue(Member& member, std::uintptr_t stream, std::size_t actions = 1) {
    const std::vector<world::Action> all(actions, world::Action{.blocks = 1, .threads = 32});
    return member.enqueue({numbered<void*>(stream)}, all);
  }
  kernels::Domain domain(Member& member) {
    EXPECT_TRUE(enqueue(member, 1));
    return machine_.launches.back().domain;
  }

  Machine machine_;
  FakeDriver fake_ = make_driver();
  const int image_ = 0;
  const Image images_[3] = {
      {Kernels::packet, &image_}, {Kernels::staged, &image_}, {Kernels::transfers, &image_}};
  const Driver driver_ = fake_.open().value();
  Contexts contexts_{driver_, images_};
};

TEST_F(MemberTest, RanksOfOneProcessSeeEachOthersMailboxes) {
  auto a = make(options(0)), b = make(options(1), 11);
  connect(a, b);
  const kernels::Domain first = domain(*a), second = domain(*b);
  EXPECT_EQ(first.me, 0u);
  EXPECT_EQ(second.me, 1u);
  EXPECT_EQ(first.capacity.world, 2u);
  EXPECT_NE(first.mailboxes[0], first.mailboxes[1]);
  EXPECT_EQ(first.mailboxes[0], second.mailboxes[0]);
  EXPECT_EQ(first.mailboxes[1], second.mailboxes[1]);
  EXPECT_TRUE(machine_.opened.empty());
  EXPECT_EQ(std::count(machine_.steps.begin(), machine_.steps.end(), "maps 11"), 1);
  EXPECT_EQ(std::count(machine_.steps.begin(), machine_.steps.end(), "maps 10"), 1);
  EXPECT_EQ(std::atomic_ref(*first.laps).load(), 0u);
  EXPECT_EQ(*first.stop, 0u);
}

TEST_F(MemberTest, RanksOfOtherProcessesMapThem) {
  MemberOptions foreign = options(1);
  foreign.process = {1, 2};
  {
    auto a = make(options(0)), b = make(foreign);
    connect(a, b);
    EXPECT_EQ(machine_.opened.size(), 2u);
    EXPECT_EQ(domain(*a).mailboxes[1], domain(*b).mailboxes[1]);
  }
  EXPECT_EQ(machine_.closed.size(), 2u);
}

// A peer's last stores may still be on their way when a rank goes.
TEST_F(MemberTest, AMailboxLivesAsLongAsARankOfTheProcessMayWriteToIt) {
  auto a = make(options(0)), b = make(options(1));
  connect(a, b);
  const auto mailbox = reinterpret_cast<Address>(domain(*a).mailboxes[0]);
  const auto is_freed = [&] {
    return std::count(machine_.freed.begin(), machine_.freed.end(), mailbox) == 1;
  };
  a.reset();
  EXPECT_FALSE(is_freed());
  b.reset();
  EXPECT_TRUE(is_freed());
  EXPECT_EQ(machine_.modules, 0);
}

TEST_F(MemberTest, AContextIsLoadedOnceAndThePrimaryOneGivenBack) {
  machine_.context = nullptr;  // a thread that has chosen no device
  auto a = Member::make(contexts_, options(0)).value();
  EXPECT_EQ(machine_.context, nullptr);
  auto b = Member::make(contexts_, options(1)).value();
  EXPECT_EQ(machine_.contexts_retained, 1);
  EXPECT_EQ(machine_.modules, 3);  // one for each lowering, and that of messages
  a.reset();
  b.reset();
  EXPECT_EQ(machine_.contexts_retained, 0);
}

TEST_F(MemberTest, LargeMailboxesAreForOneCommunicatorAtATime) {
  auto a = make(options(0)), b = make(options(1));
  connect(a, b);
  EXPECT_EQ(a->holds(world::Lowering::staged), 2048u);
  EXPECT_EQ(a->holds(world::Lowering::packet), 512u);
  MemberOptions further = options(0), other = options(1);
  further.communicator = other.communicator = 78;
  auto c = make(further), d = make(other);
  connect(c, d);
  EXPECT_EQ(c->holds(world::Lowering::staged), 256u);
  EXPECT_EQ(c->holds(world::Lowering::packet), 128u);
  a.reset();
  b.reset();
  c.reset();
  EXPECT_EQ(make(further)->card().staged, 2048u);
}

TEST_F(MemberTest, RanksOfOneProcessLeaveEachOtherRoomOnADevice) {
  auto a = make(options(0)), b = make(options(1));
  connect(a, b);
  EXPECT_EQ(a->most_blocks(), kernels::kMostBlocks / 2);
  auto c = make(options(0)), d = make(options(1), 11);
  connect(c, d);
  EXPECT_EQ(c->most_blocks(), kernels::kMostBlocks);
  MemberOptions foreign = options(1);
  foreign.process = {1, 2};
  auto e = make(options(0)), f = make(foreign);
  connect(e, f);
  EXPECT_EQ(e->most_blocks(), kernels::kMostBlocks);
}

TEST_F(MemberTest, MessagesShareTheOrderAndHaveStripesByTheRoomOnADevice) {
  auto a = make(options(0)), b = make(options(1), 11);
  connect(a, b);
  EXPECT_EQ(domain(*a).capacity.stripes, kernels::kMostStripes);
  EXPECT_EQ(domain(*a).capacity.letters, 512u);
  EXPECT_EQ(a->lowering_of(512), world::Lowering::packet);
  auto c = make(options(0)), d = make(options(1));
  connect(c, d);
  EXPECT_EQ(domain(*c).capacity.stripes, kernels::kMostStripes / 2);
  world::Transfers transfers;
  transfers.count = 1;
  transfers.directions[0] = {.peer = 1, .sends = true, .count = 1};
  machine_.steps.clear();
  EXPECT_TRUE(enqueue(*a, 4));
  EXPECT_TRUE(a->enqueue({numbered<void*>(3)}, std::span<const world::Transfers>(&transfers, 1)));
  EXPECT_TRUE(enqueue(*a, 3));
  EXPECT_EQ(machine_.steps,
            (std::vector<std::string>{"4 waits", "4 runs", "3 waits", "3 runs", "3 runs"}));
}

TEST_F(MemberTest, ScratchGrowsAndStaysForGraphsThatUseIt) {
  auto a = make(options(0));
  std::byte* const first = a->scratch(100).value();
  EXPECT_EQ(a->scratch(100).value(), first);
  std::byte* const second = a->scratch(101).value();
  EXPECT_NE(second, first);
  EXPECT_EQ(a->scratch(200).value(), second) << "at least twice as much as before";
  machine_.no_memory_for = 1'000;
  const Result<std::byte*> refused = a->scratch(1'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::out_of_memory);
  EXPECT_TRUE(machine_.freed.empty());
  a.reset();
  for (std::byte* const one : {first, second})
    EXPECT_EQ(
        std::count(machine_.freed.begin(), machine_.freed.end(), reinterpret_cast<Address>(one)),
        1);
}

TEST_F(MemberTest, ARankAloneNeedsNoMailbox) {
  MemberOptions alone = options(0);
  alone.world = 1;
  auto a = make(alone);
  const Card card = a->card();
  ASSERT_TRUE(a->connect({&card, 1}));
  EXPECT_EQ(a->holds(world::Lowering::staged), std::uint64_t{1} << 35);
  EXPECT_EQ(domain(*a).capacity.world, 1u);
}

TEST_F(MemberTest, RanksAgreeOnTheSmallestMailbox) {
  MemberOptions small = options(1);
  small.large.packets = 2048;
  auto a = make(options(0)), b = make(small);
  connect(a, b);
  EXPECT_EQ(a->holds(world::Lowering::packet), 256u);
  EXPECT_EQ(b->holds(world::Lowering::packet), 256u);
}

TEST_F(MemberTest, OpsOfAllStreamsComeInOneOrder) {
  auto a = make(options(0)), b = make(options(1));
  connect(a, b);
  machine_.steps.clear();
  for (const std::uintptr_t stream : {1u, 1u, 3u, 3u, 1u}) EXPECT_TRUE(enqueue(*a, stream));
  EXPECT_EQ(machine_.steps, (std::vector<std::string>{"1 runs", "1 runs", "3 waits", "3 runs",
                                                      "3 runs", "1 waits", "1 runs"}));
  machine_.steps.clear();
  // Each thread has another stream of that name.
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(enqueue(*a, 2));
  EXPECT_EQ(machine_.steps, (std::vector<std::string>{"2 waits", "2 runs", "2 waits", "2 runs"}));
  machine_.steps.clear();
  EXPECT_TRUE(enqueue(*a, 3));
  machine_.reused = 1000;  // the stream is gone, not its op; a new one got its handle
  EXPECT_TRUE(enqueue(*a, 3));
  EXPECT_EQ(machine_.steps, (std::vector<std::string>{"3 waits", "3 runs", "3 waits", "3 runs"}));
  machine_.steps.clear();
  EXPECT_TRUE(a->enqueue({reinterpret_cast<void*>(3)}, std::span<const world::Action>()));
  EXPECT_EQ(machine_.steps, std::vector<std::string>{}) << "of an op that does nothing";
}

TEST_F(MemberTest, OpsOfAGraphWaitForNoneOutsideOfIt) {
  auto a = make(options(0)), b = make(options(1));
  connect(a, b);
  EXPECT_TRUE(enqueue(*a, 1));
  machine_.steps.clear();
  machine_.graph = 1;
  for (const std::uintptr_t stream : {3u, 4u}) EXPECT_TRUE(enqueue(*a, stream));
  machine_.graph = 2;
  EXPECT_TRUE(enqueue(*a, 3));
  machine_.graph = 0;
  EXPECT_TRUE(enqueue(*a, 1));
  EXPECT_EQ(machine_.steps,
            (std::vector<std::string>{"3 runs", "4 waits", "4 runs", "3 runs", "1 runs"}));
}

TEST_F(MemberTest, ALaunchThatFailsBetweenTwoIsFinal) {
  auto a = make(options(0)), b = make(options(1));
  connect(a, b);
  machine_.launched = Status::out_of_memory;
  EXPECT_FALSE(enqueue(*a, 1, 2));  // nothing was enqueued: the caller may try again
  EXPECT_FALSE(a->failure());
  machine_.launched = Status::success;
  EXPECT_TRUE(enqueue(*a, 1, 2));
  fake_.set("cuEventRecord", [](Event, Stream) { return Status::invalid_value; });
  const Driver driver = fake_.open().value();
  Contexts contexts(driver, images_);
  Result<std::unique_ptr<Member>> c = Member::make(contexts, options(0));
  ASSERT_TRUE(c);
  EXPECT_FALSE(enqueue(**c, 1));
  ASSERT_TRUE((*c)->failure());
  EXPECT_EQ((*c)->failure()->code(), Code::system);
  const std::size_t launches = machine_.launches.size();
  EXPECT_FALSE(enqueue(**c, 1));
  EXPECT_EQ(machine_.launches.size(), launches);
}

TEST_F(MemberTest, TellsWhyAKernelGaveUp) {
  MemberOptions patient = options(0);
  patient.patience = milliseconds(250);
  auto a = make(patient), b = make(options(1));
  connect(a, b);
  const kernels::Domain domain = this->domain(*a);
  EXPECT_EQ(domain.patience_ns, 250'000'000u);
  EXPECT_FALSE(a->failure());
  const auto told = [&](std::uint32_t code) {
    *domain.report = {1, 12, 0xbeef, code};
    const std::optional<Error> failure = a->failure();
    return failure ? failure->text() : "nothing";
  };
  EXPECT_EQ(told(kernels::Report::mismatch),
            "peer 1: mismatch: op 12 on streams: rank 1 called something else (signature 48879)");
  domain.report->lap = 0;
  EXPECT_EQ(
      a->failure()->text(),
      "peer 1: mismatch: a message on streams: rank 1 called something else (signature 48879)");
  EXPECT_EQ(told(kernels::Report::late),
            "peer 1: timeout: op 12 on streams: rank 1 awaited for 250 ms");
  EXPECT_EQ(told(kernels::Report::aborted),
            "aborted: op 12 on streams: stopped while it waited for rank 1");
  a->stop();
  EXPECT_EQ(*domain.stop, 1u);
}

TEST_F(MemberTest, NamesTheDevicesThatDoNotReachEachOther) {
  machine_.reaches = false;
  auto a = make(options(0)), b = make(options(1), 12);
  const Card cards[] = {a->card(), b->card()};
  const Result<void> connected = a->connect(cards);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().text(),
            "peer 1: unsupported: device 0 (Fake H200) does not reach device 2 of rank 1");
}

TEST_F(MemberTest, GivesAllBackWhenItCannotBeMade) {
  machine_.context = numbered<Context>(10);
  machine_.no_memory_for =
      sizeof(std::uint32_t) * (kernels::kMostBlocks + 1 + kernels::kChunkWords);
  const Result<std::unique_ptr<Member>> made = Member::make(contexts_, options(0));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::out_of_memory);
  EXPECT_EQ(machine_.freed.size(), 1u);  // the mailbox
  EXPECT_EQ(machine_.modules, 0);
  machine_.no_memory_for = 0;
  EXPECT_EQ(make(options(0))->card().staged, 2048u);
}

}  // namespace
}  // namespace hocket::cuda
