// A list of items that tells in constant time which of two stands first, also after items were put between others.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace halftone::compiler {

class Line {
public:
  /// Stands for "no item": as the left neighbour of the first item, and as the right neighbour of the last.
  static constexpr size_t end = SIZE_MAX;

  /// Items 0 to `count` - 1 in this order.
  explicit Line(size_t count = 0);
  /// A new item, the next number, behind `left`.
  size_t add(size_t left);
  size_t append() { return add(previous(end)); }
  /// The item stands nowhere from here on.
  void remove(size_t item);
  /// Puts items that stand nowhere behind `left`, in this order.
  void put(size_t left, llvm::ArrayRef<size_t> items);

  /// A number that rises along the line; those of items change when others go in.
  uint64_t place(size_t item) const { return places[slot(item)]; }
  bool isBefore(size_t item, size_t other) const { return place(item) < place(other); }
  size_t previous(size_t item) const { return itemOf(before[slot(item)]); }

private:
  static size_t slot(size_t item) { return item + 1; } // slot 0 is the end's
  static size_t itemOf(size_t slot) { return slot - 1; }
  void renumber();

  std::vector<size_t> before, behind; // by slot
  std::vector<uint64_t> places;
};

} // namespace halftone::compiler
