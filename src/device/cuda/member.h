// SPDX-License-Identifier: Apache-2.0
// One rank's part of a domain of GPUs: its mailbox, which the peers have mapped, and the laps of
// its kernels. Ranks meet in two steps, with words that somebody else carries: each makes its
// member and gives away its card; with the cards of all it connects.
//
// Threads: any, once connected. Ownership: mailboxes of ranks of one process are shared by all of
// them, so that a peer's last stores find memory; those of other processes stay theirs. The domain
// ends when its members do: drain first. Failure: what the driver says, naming the device and,
// where there is one, the peer. Cost: an action is a launch, a call also two looks at the stream
// and an event, since other streams may come.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "device/cuda/context.h"
#include "device/kernels/domain.h"
#include "world/stream_device.h"

namespace hocket::cuda {

/// Two random words of a process: who has the same shares its addresses.
using ProcessMark = std::array<std::uint64_t, 2>;

/// What a rank tells the others. Plain bytes.
struct Card {
  ProcessMark process{};
  Context context = nullptr;  ///< for ranks of the same process, as the address
  std::byte* mailbox = nullptr;
  IpcHandle handle{};  ///< for ranks of others
  /// Of kernels::Capacity, what it has memory for.
  std::uint64_t packets = 0, staged = 0, letters = 0;
  Device device = 0;
};

/// Bytes of a mailbox, without its flags.
struct MailboxSize {
  std::uint64_t packets = 0, staging = 0, letters = 0;
};

/// What fits into that much memory, by the layout of a mailbox (device/kernels/domain.h). One rank
/// alone uses none: its windows are as long as can be.
kernels::Capacity capacity_of(const MailboxSize& size, std::uint32_t world);

struct MemberOptions {
  Rank me;
  std::uint32_t world = 2;
  ProcessMark process{};
  std::uint64_t communicator = 0;  ///< a number that no other one has
  Duration patience = kForever;    ///< of an action that waits for a peer
  /// Large mailboxes are for the first communicator of a context.
  MailboxSize large = {4 << 20, 64 << 20, 1 << 20}, small = {256 << 10, 624 << 10, 64 << 10};
};

class Member final : public world::StreamDevice {
 public:
  /// In the calling thread's context.
  static Result<std::unique_ptr<Member>> make(Contexts& contexts, const MemberOptions& options);
  ~Member() override;
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  Card card() const;
  /// By rank. No op before all ranks have connected.
  Result<void> connect(std::span<const Card> cards);

  std::uint64_t holds(world::Lowering lowering) const override;
  world::Lowering lowering_of(std::uint64_t message) const override;
  std::uint32_t most_blocks() const override { return most_blocks_; }
  Result<void> enqueue(world::Stream stream, std::span<const world::Action> actions) override;
  Result<void> enqueue(world::Stream stream, std::span<const world::Transfers> groups) override;
  Result<std::byte*> scratch(std::uint64_t bytes) override;
  std::optional<Error> failure() override;
  void stop() override;
  Result<void> drain() override;

 private:
  /// What kernels and host tell each other, in host memory that the device has mapped.
  struct Board {
    kernels::Report report;
    alignas(128) std::uint32_t stop = 0;
  };
  /// Ops of one graph, or of none, are behind one another, whatever their streams.
  struct Order {
    Event event = nullptr;     ///< after the last one
    std::uint64_t stream = 0;  ///< its id: another one may get its handle later
    std::uint64_t graph = 0;
    bool used = false;
  };

  struct Launches {
    Baton lock;  // a launch may block while the device's queue is full
    Order eager, captured;
  };
  struct Scratch {  // graphs may use any of it for ever, so none is freed before the end
    Baton lock;
    std::vector<Address> all;
    std::uint64_t bytes = 0;  ///< of the last one
  };
  struct Refusal {
    Baton lock;
    std::optional<Error> error;  // of the driver, in the middle of an op
  };
  struct Private {};  // make() alone can name it

 public:
  Member(Private, Contexts& contexts, Use<LoadedContext> context, const MemberOptions& options);

 private:
  Result<void> allocate();
  Result<void> clear();
  Result<std::byte*> reach(Rank peer, const Card& card);
  template <class Item>
  Result<void> enqueue_in_order(Stream stream, std::span<const Item> items, std::size_t& count);
  template <class Item>
  Result<void> enqueue_all(world::Stream stream, std::span<const Item> items);
  std::optional<Error> refusal();
  Error read_report() const;
  const Driver& driver() const { return context_->driver(); }

  Contexts& contexts_;
  const Use<LoadedContext> context_;
  const MemberOptions options_;
  const bool is_large_;
  Use<DeviceMemory> mailbox_;
  std::uint64_t mailbox_bytes_ = 0;
  std::uint32_t most_blocks_ = 0;
  std::vector<Use<DeviceMemory>> neighbours_;  // of this process
  std::vector<Address> mapped_;                // of others
  Address words_ = 0;                          // laps, and given_up
  Board* board_ = nullptr;
  kernels::Domain domain_;
  Launches launches_;
  Scratch scratch_;
  Refusal refusal_;
};

}  // namespace hocket::cuda
