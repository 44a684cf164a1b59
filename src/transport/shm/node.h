// SPDX-License-Identifier: Apache-2.0
// What one operating system process has of the shared memory transport: its segments, each mapped
// once however many of its ranks are in it, and the word by which peers recognise its memory. Two
// ranks of a process so meet at the same addresses: they read one another's buffers directly, and a
// race detector sees what they do.
//
// A process has one Node. It proves that it lives by record locks on its segments, and the kernel
// drops all of those as soon as any descriptor of the file is closed in the process; the Node
// therefore keeps every descriptor until the last rank has left.
// Threads: all; calls spin on one another for the length of a few system calls, at join and leave
// only. Ownership: the composition owns it and gives it to any number of networks; it goes last.
// Failure: out_of_memory or system when the kernel refuses a mapping.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/baton.h"
#include "base/result.h"
#include "transport/shm/file.h"
#include "world/clock.h"
#include "world/random.h"

namespace hocket::transport::shm {

struct Options {
  /// Messages in flight per (from, to, channel), 1..64. All ranks use rank 0's.
  std::uint32_t credits = 8;
  /// Up to this size a message is copied through the segment, twice but out of the cache; a larger
  /// one is read by its receiver straight from the sender's memory, once, but page by page through
  /// the kernel (docs/decisions/0004). Less where the stages of one rank would exceed 64 MiB, and
  /// between ranks of one process, who need no kernel.
  std::uint64_t staged_bytes = 256 << 10;
  /// Read other processes' memory where the kernel allows it; else all goes through the segment.
  bool cross_memory = true;
  /// Ranks of one process read one another's buffers as their own; else as other processes do.
  bool share_addresses = true;
};

/// By this a process is told from every other: the number it has in its pid namespace, and a random
/// word that stands in its memory.
struct Identity {
  pid_t pid = 0;
  std::uint64_t pid_namespace = 0;
  std::uint64_t cookie = 0;
  std::uint64_t cookie_address = 0;
  bool operator==(const Identity&) const = default;
};

class Node {
 public:
  Node(world::Clock& clock, world::Random& random, const Options& options = {});
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  /// One rank's hold on a mapped segment.
  class Lease;
  /// Maps `file`, or finds it mapped already. Keeps the descriptor.
  Result<Lease> map(File file, std::uint64_t bytes);

  /// A forked child is another process and gets another identity.
  Result<Identity> identity();

  const Options& options() const { return options_; }
  world::Clock& clock() { return clock_; }
  world::Random& random() { return random_; }

 private:
  struct Mapping;
  void release(Mapping& mapping);

  world::Clock& clock_;
  world::Random& random_;
  const Options options_;
  Baton baton_;  // guards what follows
  std::vector<std::unique_ptr<Mapping>> mappings_;
  Identity identity_;
  std::atomic<std::uint64_t> cookie_{0};  // read by peers, through the kernel
};

class Node::Lease {
 public:
  Lease(Lease&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)), mapping_(other.mapping_) {}
  Lease& operator=(Lease&&) = delete;
  ~Lease() {
    if (node_ != nullptr) node_->release(*mapping_);
  }

  std::byte* data() const;
  std::uint64_t size() const;
  int descriptor() const;  ///< for locks; stays open

 private:
  friend class Node;
  Lease(Node& node, Mapping& mapping) : node_(&node), mapping_(&mapping) {}
  Node* node_;
  Mapping* mapping_;
};

}  // namespace hocket::transport::shm
