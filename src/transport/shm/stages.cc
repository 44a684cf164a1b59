// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/stages.h"

#include <algorithm>

#include "transport/shm/copy.h"

namespace hocket::transport::shm {

// Links in a hurry have no memory to take.
void Stages::expect(std::size_t stages) {
  expected_ += stages;
  all_.reserve(expected_);
  free_.reserve(expected_);
}

Result<Stages::Number> Stages::hold(const world::Message& message) {
  if (!message.repeats || !newest_) {
    forget();
    TRY(const Number stage, take());
    const ConstBytes source = message.source;
    copy(segment_.at(offset(stage), source.size), source.data, source.size);
    all_[stage].holders = 1;
    newest_ = stage;
  }
  ++all_[*newest_].holders;
  return *newest_;
}

void Stages::give_back(Number stage) {
  if (--all_[stage].holders == 0) free_.push_back(stage);
}

void Stages::forget() {
  if (newest_) give_back(*newest_);
  newest_.reset();
}

Result<Stages::Number> Stages::take() {
  if (!free_.empty()) {
    const Number stage = free_.back();
    free_.pop_back();
    return stage;
  }
  TRY(const std::uint64_t offset, segment_.allocate(segment_.shape().slice_bytes));
  all_.push_back({.offset = offset});
  return static_cast<Number>(all_.size() - 1);
}

Result<std::uint64_t> Staging::put(const world::Message& message, std::uint32_t slot) {
  const ConstBytes source = message.source;
  if (source.size > Segment::kCellBytes) return stage(message, slot);
  TRY(const std::uint64_t place, cell(slot));
  copy(stages_.segment().at(place, source.size), source.data, source.size);
  return place;
}

Result<std::uint64_t> Staging::cell(std::uint32_t slot) {
  if (cells_ == 0) {
    Segment& segment = stages_.segment();
    TRY(cells_, segment.allocate(segment.shape().credits * Segment::kCellBytes));
  }
  return cells_ + slot * Segment::kCellBytes;
}

Result<std::uint64_t> Staging::stage(const world::Message& message, std::uint32_t slot) {
  if (held_.empty()) {
    held_.resize(stages_.segment().shape().credits);
    stages_.expect(held_.size());
  }
  TRY(const Stages::Number stage, stages_.hold(message));
  held_[slot] = stage;
  return stages_.offset(stage);
}

// Those that hold a stage are among the last `credits` messages before the last call.
void Staging::give_back(std::uint64_t messages) {
  const std::uint64_t end = std::min(messages, given_back_ + held_.size());
  for (std::uint64_t i = given_back_; i < end; ++i) {
    std::optional<Stages::Number>& held = held_[i % held_.size()];
    if (held) stages_.give_back(*held);
    held.reset();
  }
  given_back_ = messages;
}

}  // namespace hocket::transport::shm
