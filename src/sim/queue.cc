// SPDX-License-Identifier: Apache-2.0
#include "sim/queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hocket::sim {
namespace {

constexpr auto kLater = [](const Event& a, const Event& b) { return b < a; };

/// Into sorted events, of which the first `from` are over.
void insert(std::vector<Event>& events, std::size_t from, const Event& event) {
  const auto first = events.begin() + static_cast<std::ptrdiff_t>(from);
  events.insert(std::upper_bound(first, events.end(), event), event);
}

}  // namespace

Queue::Queue(std::uint32_t nodes, Picoseconds window)
    : window_(window > 0 ? window : 1'000'000), nodes_(nodes), near_(kNear) {
  CHECK(window > 0 || nodes == 1, "several nodes need latency between them");
}

void Queue::push(std::uint32_t number, const Event& event) {
  const Picoseconds time = event.time();
  if (number == open_node_ && time < open_end_) return insert(open_, served_, event);
  Node& node = nodes_[number];
  if (time < (now_ + kSoon) * window_) {
    node.soon.push_back(event);
  } else {
    node.late.push_back(event);
    std::push_heap(node.late.begin(), node.late.end(), kLater);
  }
  if (number != open_node_ && time < node.next) enlist(number, time);
}

void Queue::erase(std::uint32_t number, const Event& event) {
  Node& node = nodes_[number];
  const auto same = [&](const Event& due) { return due.same(event); };
  std::erase_if(node.soon, same);
  if (std::erase_if(node.late, same) > 0)
    std::make_heap(node.late.begin(), node.late.end(), kLater);
  if (number != open_node_) return;
  const auto first = open_.begin() + static_cast<std::ptrdiff_t>(served_);
  open_.erase(std::remove_if(first, open_.end(), same), open_.end());
}

/// Takes out the node's events of the present window.
void Queue::open(std::uint32_t number) {
  Node& node = nodes_[number];
  open_node_ = number;
  open_end_ = (now_ + 1) * window_;
  std::size_t kept = 0;
  for (const Event& event : node.soon) {
    if (event.time() < open_end_) {
      open_.push_back(event);
    } else {
      node.soon[kept++] = event;
    }
  }
  node.soon.resize(kept);
  while (!node.late.empty() && node.late.front().time() < open_end_) {
    open_.push_back(node.late.front());
    std::pop_heap(node.late.begin(), node.late.end(), kLater);
    node.late.pop_back();
  }
  std::sort(open_.begin(), open_.end());
}

/// Puts back what is open still, as the window was cut short, and enlists the node anew.
void Queue::close(std::uint32_t number) {
  Node& node = nodes_[number];
  node.soon.insert(node.soon.end(), open_.begin() + static_cast<std::ptrdiff_t>(served_),
                   open_.end());
  open_.clear();
  served_ = 0;
  open_node_ = kNone;
  Picoseconds next = node.late.empty() ? kEnd : node.late.front().time();
  for (const Event& event : node.soon) next = std::min(next, event.time());
  node.next = kEnd;
  if (next != kEnd) enlist(number, next);
}

/// Enters the node in the window of that time, its earliest event's. A node may be enlisted in a
/// later one too; it is then passed over there.
void Queue::enlist(std::uint32_t number, Picoseconds time) {
  nodes_[number].next = time;
  const std::uint64_t window = std::max(now_, time / window_);
  if (window >= now_ + kNear) return far_.push_back(number);
  near_[window % kNear].push_back(number);
  ++enlisted_near_;
}

Picoseconds Queue::next() {
  while (near_[now_ % kNear].empty()) {
    if (enlisted_near_ == 0) {
      if (far_.empty()) return kEnd;
      refill();
    } else if (++now_ % kNear == 0) {
      refill();
    }
  }
  return now_ * window_;
}

void Queue::take_due() {
  due_.clear();
  due_.swap(near_[now_ % kNear]);
  enlisted_near_ -= due_.size();
}

/// Gives near windows their buckets; when there is none, goes on to the first far one.
void Queue::refill() {
  std::vector<std::uint32_t> far;
  far.swap(far_);
  std::erase_if(far, [this](std::uint32_t node) {  // enlisted nearer since, perhaps served
    return nodes_[node].next == kEnd || nodes_[node].next / window_ < now_;
  });
  if (enlisted_near_ == 0) {
    Picoseconds first = kEnd;
    for (const std::uint32_t node : far) first = std::min(first, nodes_[node].next);
    if (first != kEnd) now_ = std::max(now_, first / window_);
  }
  for (const std::uint32_t node : far) enlist(node, nodes_[node].next);
}

}  // namespace hocket::sim
