// SPDX-License-Identifier: Apache-2.0
// A rank's device as the stream executor sees it: it enqueues actions on the user's streams, where
// they meet those of the peers without the host. Whoever composes a process makes one per rank and
// connects those of a domain before any op.
//
// Threads: any. Ownership: actions are values; the memory that they name is in use until the stream
// has passed them.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "world/swap.h"
#include "world/transfers.h"

namespace hocket::world {

/// A stream of the user's, a CUstream: the device alone looks into it.
struct Stream {
  void* handle = nullptr;
};

class StreamDevice {
 public:
  virtual ~StreamDevice() = default;

  /// Bytes of a part that mailboxes hold for that lowering, the same on all ranks; 0: it has none.
  virtual std::uint64_t holds(Lowering lowering) const = 0;
  /// How a message of so many bytes goes.
  virtual Lowering lowering_of(std::uint64_t message) const = 0;
  /// Of a launch: those of all ranks run at the same time, on however few devices. The same on all
  /// ranks.
  virtual std::uint32_t most_blocks() const = 0;
  /// Enqueues actions behind one another and behind those of earlier calls, whatever their streams,
  /// calls of several threads in the order in which they get its lock. Never waits for a peer. When
  /// it fails some may be enqueued: that is the device's failure.
  virtual Result<void> enqueue(Stream stream, std::span<const Action> actions) = 0;
  /// The same of groups of transfers, none of them empty.
  virtual Result<void> enqueue(Stream stream, std::span<const Transfers> groups) = 0;
  /// Memory for rounds of so many bytes at least, the same for all ops, as they run one after
  /// another; stays as long as the device. Out of memory, if it is.
  virtual Result<std::byte*> scratch(std::uint64_t bytes) = 0;
  /// Why it failed, if it has: an action gave up (aborted, timeout or mismatch, about the peer that
  /// it waited for), or could not be enqueued. Cheap: asked in every look for failures.
  virtual std::optional<Error> failure() = 0;
  /// Actions that wait give up soon; later ones do not wait. For ever.
  virtual void stop() = 0;
  /// Blocks until all actions are over, those in graphs included.
  virtual Result<void> drain() = 0;
};

}  // namespace hocket::world
