// SPDX-License-Identifier: Apache-2.0
// One rank's view of its links: what a transport implements and the host executor drives. Messages
// of one (from, to, channel) are first in, first out; message j written is message j taken, and the
// plan's proof says that both ends agree on its size. There are three things to wait for, named by
// a Port: that a message may be written, that one has arrived, that all written ones have left
// their source.
//
// Test, then park: `ready` costs nothing when the answer is yes already; `park` links the waiter,
// which lives in the caller's channel, and resumes its handle once ready. A link that failed is
// ready, and the next call on it says what happened: nobody waits for the dead.
// Links, sockets, segments and how bytes travel are private to a transport. A source may be read
// until it has left (Port::drained): the plan's proof shows that nobody writes there before.
// Threads: one at a time, whoever holds the process's baton. Ownership: waiters and buffers belong
// to the caller and stay until resumed or unparked, and until drained.
// Failure: peer_lost when a peer or link is gone, mismatch when an arrival is not what was
// expected.
#pragma once
#include <coroutine>
#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace hocket::world {

enum class Port : std::uint8_t {
  staged,   ///< write a message that the receiver will fold or copy: needs a credit
  landing,  ///< write one that lands in the peer's output: a credit, and the peer has entered
  arrival,  ///< a message from the peer has arrived
  drained,  ///< all that this rank wrote on the channel has left its source (peer: unused)
};

/// One thing waited for. The caller fills in owner, channel, peer and port (through aim) and keeps
/// it in place while parked.
struct Waiter {
  std::coroutine_handle<> handle;
  Waiter* next = nullptr;  ///< the fabric's, while parked
  void* link = nullptr;    ///< the fabric's: what (peer, channel) resolved to; null: not yet
  Rank owner = kNobody, peer = kNobody;
  ChannelId channel;
  Port port = Port::arrival;
  bool parked = false;  ///< kept by the fabric: true from park to resume or unpark

  /// Points it at another peer and port; forgets the resolved link if that changes it.
  void aim(Rank new_peer, Port new_port) {
    if (peer != new_peer || (port == Port::arrival) != (new_port == Port::arrival)) link = nullptr;
    peer = new_peer;
    port = new_port;
  }
};

struct Entry {  ///< a rank enters an op: peers may write into `output` from now on
  OpSeq op;
  Bytes output;
};

struct Message {
  ConstBytes source;        ///< kept readable until drained
  std::uint64_t lands = 0;  ///< Port::landing: byte offset in the peer's output
  /// The message that this rank wrote last on the channel, to whomever, had this source, and nobody
  /// has written there since. Who copied that one need not copy this one; others take no notice.
  bool repeats = false;
};

class Fabric {
 public:
  /// Ops are entered in one order by all ranks.
  virtual Result<void> enter(const Entry& entry) = 0;
  virtual bool ready(Waiter& waiter) = 0;
  virtual void park(Waiter& waiter) = 0;
  /// Forgets a parked waiter without resuming it.
  virtual void unpark(Waiter& waiter) = 0;

  /// Port staged or landing, after ready(); does not block.
  virtual Result<void> write(Waiter& waiter, const Message& message) = 0;
  /// Port arrival, after ready(): the oldest message's bytes, readable until pop. Fails with
  /// mismatch unless it has `size` bytes. data is null where payloads are elided.
  virtual Result<ConstBytes> front(Waiter& waiter, std::uint64_t size) = 0;
  /// Port arrival, after ready(): makes sure that the oldest message is in `target`, where it may
  /// have landed already. Fails with mismatch unless it has target.size bytes.
  virtual Result<void> land(Waiter& waiter, Bytes target) = 0;
  /// Gives the oldest message's credit back. After front or land.
  virtual void pop(Waiter& waiter) = 0;

  /// Looks at all that is parked and resumes what became ready; true if anything was resumed.
  /// Fabrics that resume by themselves (the simulator) return false.
  virtual bool poll() = 0;

 protected:
  ~Fabric() = default;
};

}  // namespace hocket::world
