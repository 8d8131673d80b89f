// A list of items with constant-time order queries (order maintenance), also after insertions in the middle.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace halftone::compiler {

class OrderedList {
public:
  /// Represents "no item": the left neighbor of the first item, and the right neighbor of the last.
  static constexpr size_t end = SIZE_MAX;

  /// Creates a list of the items 0 to `count` - 1, in this order.
  explicit OrderedList(size_t count = 0);
  /// Inserts a new item after `left` and returns it. Items are numbered consecutively.
  size_t add(size_t left);
  size_t append() { return add(previous(end)); }
  /// Unlinks the item. It may be inserted again with put().
  void remove(size_t item);
  /// Inserts unlinked items after `left`, in this order.
  void put(size_t left, llvm::ArrayRef<size_t> items);

  /// A label that increases along the list. Insertions may change the labels of other items.
  uint64_t label(size_t item) const { return labels[slot(item)]; }
  bool isBefore(size_t item, size_t other) const { return label(item) < label(other); }
  size_t previous(size_t item) const { return itemOf(before[slot(item)]); }

private:
  static size_t slot(size_t item) { return item + 1; } // slot 0 is that of `end`
  static size_t itemOf(size_t slot) { return slot - 1; }
  void relabel();

  std::vector<size_t> before, after; // by slot
  std::vector<uint64_t> labels;      // by slot
};

} // namespace halftone::compiler
