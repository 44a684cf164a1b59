// SPDX-License-Identifier: Apache-2.0
#include "sim/queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hocket::sim {
namespace {

constexpr auto kLater = [](const Event& a, const Event& b) { return b < a; };

}  // namespace

Queue::Queue(std::uint32_t nodes, Picoseconds window)
    : window_(window > 0 ? window : 1'000'000), nodes_(nodes), near_(kNear) {
  CHECK(window > 0 || nodes == 1, "several nodes need latency between them");
}

void Queue::push(std::uint32_t node, const Event& event) {
  std::vector<Event>& heap = nodes_[node].heap;
  heap.push_back(event);
  std::push_heap(heap.begin(), heap.end(), kLater);
  if (event.time() / window_ < nodes_[node].window) enlist(node);
}

void Queue::erase(std::uint32_t node, const Event& event) {
  std::vector<Event>& heap = nodes_[node].heap;
  const auto at =
      std::find_if(heap.begin(), heap.end(), [&](const Event& due) { return due.same(event); });
  if (at == heap.end()) return;
  *at = heap.back();
  heap.pop_back();
  std::make_heap(heap.begin(), heap.end(), kLater);
}

bool Queue::pop(std::uint32_t node, Picoseconds end, Event& event) {
  std::vector<Event>& heap = nodes_[node].heap;
  if (heap.empty() || heap.front().time() >= end) return false;
  event = heap.front();
  std::pop_heap(heap.begin(), heap.end(), kLater);
  heap.pop_back();
  return true;
}

/// Enters the node in the window of its earliest event. A node may be enlisted in a later one too;
/// it is then passed over there.
void Queue::enlist(std::uint32_t node) {
  Node& entry = nodes_[node];
  if (entry.heap.empty()) return;
  entry.window = std::max(now_, entry.heap.front().time() / window_);
  if (entry.window >= now_ + kNear) return far_.push_back(node);
  near_[entry.window % kNear].push_back(node);
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
    return nodes_[node].window == kNever || nodes_[node].window < now_;
  });
  if (enlisted_near_ == 0) {
    std::uint64_t first = kNever;
    for (const std::uint32_t node : far) first = std::min(first, nodes_[node].window);
    if (first != kNever) now_ = std::max(now_, first);
  }
  for (const std::uint32_t node : far) enlist(node);
}

}  // namespace hocket::sim
