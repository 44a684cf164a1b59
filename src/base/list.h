// SPDX-License-Identifier: Apache-2.0
// A doubly linked list through its own items, first in first out: an item is in one list at a time
// and leaves it in O(1) without knowing which, as whoever gives up waiting must.
// Threads: one at a time. Ownership: borrows; an item leaves before it ends.
#pragma once
#include "base/check.h"

namespace hocket {

/// Base of the items: `class Wait : public ListItem<Wait>`.
template <class Item>
class ListItem {
 public:
  ListItem() = default;
  ListItem(const ListItem&) = delete;
  ListItem& operator=(const ListItem&) = delete;

  bool listed() const { return next_ != this; }
  /// Leaves the list it is in, if any.
  void leave_list() {
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = this;
  }

 protected:
  ~ListItem() { CHECK(!listed(), "an item ended while in a list"); }

 private:
  template <class>
  friend class List;
  ListItem* next_ = this;
  ListItem* previous_ = this;
};

template <class Item>
class List {
 public:
  bool empty() const { return !ends_.listed(); }
  /// The oldest; null when there is none.
  Item* front() { return empty() ? nullptr : static_cast<Item*>(ends_.next_); }
  void push_back(Item& item) {
    ListItem<Item>& link = item;
    CHECK(!link.listed(), "an item is in one list at a time");
    link.previous_ = ends_.previous_;
    link.next_ = &ends_;
    ends_.previous_->next_ = &link;
    ends_.previous_ = &link;
  }

 private:
  struct Ends final : ListItem<Item> {};  // before the first and after the last
  Ends ends_;
};

}  // namespace hocket
