// Searches between two positions of a list that is kept in dependency order.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/order/DependencyOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include <functional>
#include <queue>
#include <utility>

namespace halftone::compiler {

/// The groups that are reachable from one, along its dependencies or its dependents, up to the position of `target`.
class DependencyOrder::Walk {
public:
  Walk(const DependencyOrder &order, bool isBack, size_t from, size_t target)
      : order(order), isBack(isBack), target(target) {
    found.insert(from);
  }
  /// Follows one dependency or advances to the next item; returns false if there is none.
  bool step() {
    if (group == found.size())
      return false;
    llvm::ArrayRef<size_t> items = order.members[found[group]];
    if (member == items.size()) {
      ++group;
      member = 0;
      return true;
    }
    llvm::ArrayRef<size_t> waits = order.edges(isBack)[items[member]];
    if (edge == waits.size()) {
      ++member;
      edge = 0;
      return true;
    }
    ++order.stepCount;
    const size_t reached = order.leader[waits[edge++]];
    met |= reached == target;
    if (order.keyOf(reached, isBack) > order.keyOf(target, isBack))
      found.insert(reached);
    return true;
  }
  bool hasMet() const { return met; }
  /// The items that were found, in the order of the list.
  std::vector<size_t> inOrder() const {
    std::vector<size_t> groups(found.begin(), found.end());
    llvm::sort(groups, [&](size_t a, size_t b) { return order.list.isBefore(a, b); });
    return groups;
  }

private:
  const DependencyOrder &order;
  const bool isBack;
  const size_t target;
  llvm::SmallSetVector<size_t, 16> found;
  size_t group = 0, member = 0, edge = 0; // the next ones to visit
  bool met = false;
};

DependencyOrder::DependencyOrder(size_t count) : list(count), before(count), after(count) {
  for (size_t item = 0; item < count; ++item) {
    leader.push_back(item);
    members.push_back({item});
  }
}

void DependencyOrder::wait(size_t item, size_t earlier) {
  if (!before[item].empty() && before[item].back() == earlier)
    return;
  before[item].push_back(earlier);
  after[earlier].push_back(item);
}

bool DependencyOrder::orderBefore(size_t first, size_t later) {
  if (list.isBefore(leader[later], leader[first]) && !bringTogether(leader[later], leader[first]))
    return false;
  wait(later, first);
  return true;
}

/// Moves `late` directly before `early`, which precedes it, with the items that must move too. Returns false if `late`
/// waits for `early`.
bool DependencyOrder::bringTogether(size_t early, size_t late) {
  Walk back(*this, true, late, early), forward(*this, false, early, late);
  while (true) {
    const bool backContinues = back.step();
    const bool forwardContinues = backContinues && forward.step();
    if (back.hasMet() || forward.hasMet())
      return false;
    if (backContinues && forwardContinues)
      continue;
    const std::vector<size_t> moving = (backContinues ? forward : back).inOrder();
    const size_t left = backContinues ? late : list.previous(early);
    llvm::for_each(moving, [&](size_t group) { list.remove(group); });
    list.put(left, moving);
    return true;
  }
}

/// The index in the chain after the last leader for which `item` waits, and the index of the first that waits for
/// `item`.
std::pair<size_t, size_t> DependencyOrder::unrelated(llvm::ArrayRef<size_t> chain,
                                                     const llvm::DenseSet<size_t> &leaders, size_t item) const {
  auto rankOf = [&](size_t group) {
    return llvm::lower_bound(chain, group, [&](size_t a, size_t b) { return list.isBefore(a, b); }) - chain.begin();
  };
  size_t low = 0, high = chain.size();
  if (!chain.empty() && list.isBefore(chain.front(), item))
    if (auto found = nearest(item, true, leaders, keyOf(chain.front(), true)))
      low = rankOf(*found) + 1;
  if (!chain.empty() && list.isBefore(item, chain.back()))
    if (auto found = nearest(item, false, leaders, keyOf(chain.back(), false)))
      high = rankOf(*found);
  return {low, high};
}

/// The group of `wanted` nearest to `item` in the list among those that it waits for, or that wait for it. The search
/// stops at the key `bound`.
std::optional<size_t> DependencyOrder::nearest(size_t item, bool isBack, const llvm::DenseSet<size_t> &wanted,
                                               uint64_t bound) const {
  std::priority_queue<std::pair<uint64_t, size_t>> open;
  llvm::DenseSet<size_t> seen;
  auto expand = [&](size_t group) {
    for (size_t member : members[group])
      for (size_t other : edges(isBack)[member]) {
        ++stepCount;
        const size_t reached = leader[other];
        if (keyOf(reached, isBack) >= bound && seen.insert(reached).second)
          open.push({keyOf(reached, isBack), reached});
      }
  };
  expand(item);
  while (!open.empty()) {
    const size_t group = open.top().second;
    open.pop();
    if (wanted.contains(group))
      return group;
    expand(group);
  }
  return std::nullopt;
}

std::vector<size_t> DependencyOrder::gather(llvm::ArrayRef<size_t> items) {
  // Any two leaders are related, since otherwise one would have joined the other. So the leaders form a chain, and the
  // leaders unrelated to an item are consecutive in it.
  std::vector<size_t> chain;
  llvm::DenseSet<size_t> leaders;
  bool isRising = true;
  for (size_t item : items) {
    const auto [low, high] = unrelated(chain, leaders, item);
    if (low == high) {
      isRising &= low == chain.size() && (chain.empty() || chain.back() < item);
      chain.insert(chain.begin() + static_cast<int64_t>(low), item);
      leaders.insert(item);
      continue;
    }
    const auto first = chain.begin() + static_cast<int64_t>(low), last = chain.begin() + static_cast<int64_t>(high);
    const size_t into = isRising ? *first : *std::min_element(first, last);
    const bool isLater = list.isBefore(into, item);
    // unrelated() ensures that neither waits for the other, so this cannot fail.
    (void)bringTogether(isLater ? into : item, isLater ? item : into);
    merge(into, item);
  }
  return chain;
}

/// Merges two groups that are adjacent in the list.
void DependencyOrder::merge(size_t into, size_t from) {
  list.remove(from);
  leader[from] = into;
  members[from].clear();
  members[into].push_back(from); // items come in ascending order
}

void DependencyOrder::release(llvm::ArrayRef<size_t> leaders) {
  for (size_t group : leaders) {
    const std::vector<size_t> others(members[group].begin() + 1, members[group].end());
    members[group].truncate(1);
    for (size_t item : others) {
      leader[item] = item;
      members[item].push_back(item);
    }
    list.put(group, others);
  }
}

namespace {

/// The items whose dependencies are all placed: urgent ones first, then in ascending order.
class Ready {
public:
  explicit Ready(size_t count) : isReady(count), isUrgent(count), placed(count) {}
  void add(size_t item) {
    isReady[item] = true;
    open.push({!isUrgent[item], item});
  }
  /// Returns false if the item was urgent already.
  bool makeUrgent(size_t item) {
    if (std::exchange(isUrgent[item], true))
      return false;
    if (isReady[item])
      open.push({false, item});
    return true;
  }
  std::optional<size_t> next() {
    while (!open.empty()) {
      const size_t item = open.top().second;
      open.pop();
      if (!std::exchange(placed[item], true))
        return item;
    }
    return std::nullopt;
  }
  bool isPlaced(size_t item) const { return placed[item]; }

private:
  using Entry = std::pair<bool, size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open; // an item that became urgent has two entries
  std::vector<uint8_t> isReady, isUrgent, placed;
};

} // namespace

std::vector<size_t> DependencyOrder::sorted(Urgency *urgency) const {
  std::vector<size_t> missing(leader.size()), order;
  for (size_t item = 0; item < leader.size(); ++item)
    for (size_t earlier : before[item])
      missing[leader[item]] += leader[earlier] != leader[item];
  Ready ready(leader.size());
  for (size_t item = 0; item < leader.size(); ++item) // a leader is the smallest item of its group
    if (!members[item].empty() && missing[item] == 0)
      ready.add(item);
  while (const std::optional<size_t> group = ready.next()) {
    llvm::append_range(order, members[*group]);
    for (size_t item : members[*group])
      for (size_t later : after[item])
        if (leader[later] != *group && --missing[leader[later]] == 0)
          ready.add(leader[later]);
    llvm::SmallVector<size_t> urgent = urgency ? urgency->after(*group) : llvm::SmallVector<size_t>();
    while (!urgent.empty()) {
      const size_t item = urgent.pop_back_val();
      if (!ready.makeUrgent(item))
        continue;
      for (size_t earlier : before[item])
        if (!ready.isPlaced(earlier) && urgency->mayBePlacedEarly(earlier))
          urgent.push_back(earlier);
    }
  }
  return order;
}

} // namespace halftone::compiler
