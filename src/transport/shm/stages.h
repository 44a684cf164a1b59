// SPDX-License-Identifier: Apache-2.0
// Where messages of one rank and channel are staged. Stages of a slice are cut from the segment
// when none is free, and held by the links whose messages are in them: those that send the same
// bytes to several peers hold the same one, filled once; it is free when all of them have been
// taken. Of the free ones, what was given back last is filled first: links in step stay within few
// stages, and in the cache. Threads: whoever holds the baton. Ownership: the segment's memory; what
// a dead peer has not taken stays held. Failure: out_of_memory. Cost: the copy; constant beside it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "transport/shm/segment.h"
#include "world/fabric.h"

namespace hocket::transport::shm {

/// Those of a channel.
class Stages {
 public:
  using Number = std::uint32_t;

  explicit Stages(Segment& segment) : segment_(segment) {}

  Segment& segment() { return segment_; }
  /// So many more may be held at once: room for what is known of them.
  void expect(std::size_t stages);
  /// One that holds the message's bytes, with one holder more.
  Result<Number> hold(const world::Message& message);
  void give_back(Number stage);
  /// The next message repeats, if any, one that has no stage.
  void forget();
  /// In the segment.
  std::uint64_t offset(Number stage) const { return all_[stage].offset; }

 private:
  struct Stage {
    std::uint64_t offset = 0;
    std::uint32_t holders = 0;
  };
  Result<Number> take();

  Segment& segment_;
  std::vector<Stage> all_;
  std::vector<Number> free_;
  std::size_t expected_ = 0;
  std::optional<Number> newest_;  // held from here too, lest it be filled anew before a repetition
};

/// What the messages in flight of one link hold: a stage each, or the cell of their slot where that
/// is large enough.
class Staging {
 public:
  explicit Staging(Stages& stages) : stages_(stages) {}

  /// Offset of the message's bytes, for the message that goes into `slot`.
  Result<std::uint64_t> put(const world::Message& message, std::uint32_t slot);
  /// The first `messages` of the link have been taken.
  void give_back(std::uint64_t messages);
  /// A message goes without.
  void pass() { stages_.forget(); }

 private:
  Result<std::uint64_t> cell(std::uint32_t slot);
  Result<std::uint64_t> stage(const world::Message& message, std::uint32_t slot);

  Stages& stages_;
  std::uint64_t cells_ = 0;                          // offset; 0: none yet
  std::vector<std::optional<Stages::Number>> held_;  // by slot; empty until one is
  std::uint64_t given_back_ = 0;                     // messages
};

}  // namespace hocket::transport::shm
