// A list of items in dependency order, which supports new dependencies and gathers independent items into groups.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/order/OrderedList.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace halftone::compiler {

/// An item *waits for* the items that it depends on. To find out whether one item waits for another, directly or
/// through others, the class searches the part of the list between them, from both ends at once. Items move only when
/// orderBefore() or gather() brings two of them together, and then only items that the search has visited. A group
/// waits for all items that its members wait for.
class DependencyOrder {
public:
  /// Items 0 to `count` - 1, in this order, without dependencies.
  explicit DependencyOrder(size_t count);

  /// Makes `item` wait for `earlier` < `item`. Must be called before orderBefore() and gather().
  void wait(size_t item, size_t earlier);
  /// Makes `later` wait for `first`. If `first` waits for `later`, changes nothing and returns false.
  bool orderBefore(size_t first, size_t later);
  /// Gathers items into groups. The items are in ascending order and not in a group yet. An item may join a group if
  /// neither waits for the other. If it may join several groups of this call, it joins the one with the smallest
  /// leader; if it may join none, it leads a new group. Returns the leaders in order: each leader waits for all leaders
  /// before it.
  std::vector<size_t> gather(llvm::ArrayRef<size_t> items);
  /// Dissolves the groups of these leaders.
  void release(llvm::ArrayRef<size_t> leaders);
  /// Decides which items should come as early as possible.
  class Urgency {
  public:
    virtual ~Urgency() = default;
    /// Returns the items that became urgent because `item` was placed.
    virtual llvm::SmallVector<size_t> after(size_t item) = 0;
    /// Returns true if `item` may be placed early for an urgent item that waits for it.
    virtual bool mayBePlacedEarly(size_t item) const = 0;
  };
  /// All items, each after the items that it waits for, with the members of a group adjacent. Ties are broken in favor
  /// of urgent items, then of the smallest item. Urgency and groups must not be combined.
  std::vector<size_t> sorted(Urgency *urgency = nullptr) const;

  /// The number of dependencies that searches have followed so far.
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

  uint64_t keyOf(size_t group, bool isBack) const { return isBack ? list.label(group) : ~list.label(group); }

  OrderedList list;                                  // of leaders
  Edges before, after;                               // by item
  std::vector<size_t> leader;                        // by item: of its group
  std::vector<llvm::SmallVector<size_t, 1>> members; // by leader, in ascending order
  mutable int64_t stepCount = 0;
};

} // namespace halftone::compiler
