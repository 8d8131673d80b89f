// Items that wait for each other, in a line where each stands behind all that it waits for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/Line.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace halftone::compiler {

/// Whether one item waits for another, directly or through others, is answered by a search between their places in the
/// line, from both ends at once. The line changes only where an answer asks for it, and what a change moves is what the
/// search has seen. Items can be gathered into groups: a group waits for all that its items wait for.
class WaitOrder {
public:
  /// Items 0 to `count` - 1, of which none waits, in this order.
  explicit WaitOrder(size_t count);

  /// `item` waits for `earlier`, a smaller number. Only while nothing was gathered and nobody went first.
  void wait(size_t item, size_t earlier);
  /// `later` waits for `first`, unless `first` waits for it; returns whether.
  bool goFirst(size_t first, size_t later);
  /// Gathers items, in rising order and not gathered before: each joins the group of the smallest number among those
  /// made here that it does not wait for and that do not wait for it. An item without such a group leads one of its
  /// own. Returns the leaders, each of which waits for those before it.
  std::vector<size_t> gather(llvm::ArrayRef<size_t> items);
  /// Makes the items of the groups single again.
  void release(llvm::ArrayRef<size_t> leaders);
  /// All items, each behind what it waits for and groups together; smaller numbers first where that leaves a choice.
  std::vector<size_t> settled() const;

  /// How many waits have been looked at in searches.
  int64_t steps() const { return stepCount; }

private:
  using Edges = std::vector<llvm::SmallVector<size_t, 4>>;
  class Walk;
  bool bringTogether(size_t early, size_t late);
  void merge(size_t into, size_t from);
  std::pair<size_t, size_t> unrelated(llvm::ArrayRef<size_t> chain, const llvm::DenseSet<size_t> &leaders,
                                      size_t item) const;
  std::optional<size_t> nearest(size_t item, bool isBack, const llvm::DenseSet<size_t> &wanted, uint64_t bound) const;
  const Edges &edges(bool isBack) const { return isBack ? before : after; }

  uint64_t keyOf(size_t group, bool isBack) const { return isBack ? line.place(group) : ~line.place(group); }

  Line line;                                         // of leaders
  Edges before, after;                               // by item
  std::vector<size_t> leader;                        // by item: of its group
  std::vector<llvm::SmallVector<size_t, 1>> members; // by leader, in rising order
  mutable int64_t stepCount = 0;
};

} // namespace halftone::compiler
