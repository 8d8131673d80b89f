// Compares dependency orders with searches through all dependencies, and counts the visited items.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/order/DependencyOrder.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace halftone::compiler;

namespace {

/// The reference order, which searches all dependencies at each query.
struct Reference {
  explicit Reference(size_t count) : before(count), group(count) {
    for (size_t item = 0; item < count; ++item)
      group[item] = item;
  }
  bool waitsFor(size_t item, size_t other) const {
    std::set<size_t> seen;
    std::vector<size_t> open{group[item]};
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      for (size_t member = 0; member < group.size(); ++member)
        if (group[member] == next)
          for (size_t earlier : before[member]) {
            if (group[earlier] == group[other])
              return true;
            if (seen.insert(group[earlier]).second)
              open.push_back(group[earlier]);
          }
    }
    return false;
  }
  bool orderBefore(size_t first, size_t later) {
    if (waitsFor(first, later))
      return false;
    before[later].insert(first);
    return true;
  }
  void gather(const std::vector<size_t> &items) {
    std::vector<size_t> leaders;
    for (size_t item : items) {
      auto fits = [&](size_t leader) { return !waitsFor(leader, item) && !waitsFor(item, leader); };
      auto found = std::find_if(leaders.begin(), leaders.end(), fits);
      if (found == leaders.end())
        leaders.push_back(item);
      else
        group[item] = *found;
    }
  }
  std::vector<size_t> sorted() const {
    std::vector<size_t> order;
    std::set<size_t> done;
    while (order.size() < group.size())
      for (size_t leader = 0; leader < group.size(); ++leader) {
        auto ready = [&](size_t item) {
          return group[item] != leader || std::all_of(before[item].begin(), before[item].end(), [&](size_t earlier) {
                   return done.contains(earlier) || group[earlier] == leader;
                 });
        };
        bool isReady = group[leader] == leader && !done.contains(leader);
        for (size_t item = 0; item < group.size(); ++item)
          isReady = isReady && ready(item);
        if (!isReady)
          continue;
        for (size_t item = 0; item < group.size(); ++item)
          if (group[item] == leader) {
            order.push_back(item);
            done.insert(item);
          }
        break;
      }
    return order;
  }

  std::vector<std::set<size_t>> before;
  std::vector<size_t> group;
};

} // namespace

TEST_CASE("dependency orders answer as a search through everything does") {
  std::mt19937 random(11);
  auto below = [&](size_t bound) { return static_cast<size_t>(random() % bound); };
  for (int round = 0; round < 300; ++round) {
    const size_t count = 2 + below(20);
    DependencyOrder order(count);
    Reference reference(count);
    for (size_t item = 1; item < count; ++item)
      for (size_t waits = below(3); waits > 0; --waits) {
        const size_t earlier = below(item);
        order.wait(item, earlier);
        reference.before[item].insert(earlier);
      }
    for (size_t asked = below(count); asked > 0; --asked) {
      const size_t first = below(count), later = below(count);
      if (first != later)
        REQUIRE(order.orderBefore(first, later) == reference.orderBefore(first, later));
    }
    REQUIRE(order.sorted() == reference.sorted());
    std::vector<std::vector<size_t>> kinds(1 + below(4));
    for (size_t item = 0; item < count; ++item)
      if (below(4) != 0)
        kinds[below(kinds.size())].push_back(item);
    for (const std::vector<size_t> &kind : kinds) {
      const std::vector<size_t> sorted = order.sorted(), leaders = order.gather(kind), groups = reference.group;
      reference.gather(kind);
      REQUIRE(order.sorted() == reference.sorted());
      if (below(3) == 0) {
        order.release(leaders);
        reference.group = groups;
        REQUIRE(order.sorted() == sorted);
      }
    }
  }
}

TEST_CASE("urgent items come as soon as the items that they wait for let them") {
  // An item is urgent once a given other item has been placed. Even items may be placed early for it.
  struct AfterOne : DependencyOrder::Urgency {
    size_t sign = 0, urgent = 0;
    llvm::SmallVector<size_t> after(size_t item) override {
      return item == sign ? llvm::SmallVector<size_t>{urgent} : llvm::SmallVector<size_t>();
    }
    bool mayBePlacedEarly(size_t item) const override { return item % 2 == 0; }
  };
  std::mt19937 random(13);
  auto below = [&](size_t bound) { return static_cast<size_t>(random() % bound); };
  for (int round = 0; round < 300; ++round) {
    const size_t count = 3 + below(20);
    DependencyOrder order(count);
    std::vector<std::set<size_t>> before(count);
    for (size_t item = 1; item < count; ++item)
      for (size_t waits = below(3); waits > 0; --waits)
        before[item].insert(below(item));
    for (size_t item = 0; item < count; ++item)
      for (size_t earlier : before[item])
        order.wait(item, earlier);
    AfterOne urgency;
    urgency.sign = below(count);
    urgency.urgent = below(count);
    const std::vector<size_t> sorted = order.sorted(&urgency);
    std::vector<size_t> place(count, count);
    for (size_t i = 0; i < sorted.size(); ++i)
      place[sorted[i]] = i;
    REQUIRE(sorted.size() == count);
    for (size_t item = 0; item < count; ++item)
      for (size_t earlier : before[item])
        REQUIRE(place[earlier] < place[item]);
    // If all items on which the urgent item depends may be placed early, only those are between the sign and the urgent
    // item.
    std::set<size_t> awaited{urgency.urgent};
    bool isFree = place[urgency.sign] < place[urgency.urgent];
    for (size_t i = place[urgency.urgent] + 1; i-- > 0;)
      if (awaited.contains(sorted[i]))
        awaited.insert(before[sorted[i]].begin(), before[sorted[i]].end());
    for (size_t item : awaited)
      isFree &= item % 2 == 0 || item == urgency.urgent || place[item] <= place[urgency.sign];
    for (size_t i = place[urgency.sign] + 1; isFree && i < place[urgency.urgent]; ++i)
      REQUIRE(awaited.contains(sorted[i]));
  }
}

TEST_CASE("in stacks of layers a dependency order looks at each wait a few times") {
  // For each layer: forward, gradient with respect to the input, gradient with respect to the weights, update.
  const size_t layers = 2000;
  DependencyOrder order(4 * layers);
  std::vector<size_t> forward, input, weights, updates;
  int64_t waits = 0;
  auto wait = [&](size_t item, size_t earlier) {
    order.wait(item, earlier);
    ++waits;
  };
  for (size_t layer = 0; layer < layers; ++layer) {
    forward.push_back(layer);
    if (layer > 0)
      wait(layer, layer - 1);
  }
  for (size_t layer = layers; layer-- > 0;) {
    const size_t at = layers + 2 * (layers - 1 - layer);
    wait(at, layer == layers - 1 ? layer : at - 2);
    wait(at, layer);
    wait(at + 1, at);
    wait(at + 1, layer);
    input.push_back(at);
    weights.push_back(at + 1);
    updates.push_back(3 * layers + layers - 1 - layer);
    wait(updates.back(), at + 1);
  }
  for (size_t layer = 0; layer < layers; ++layer) // the old weights are read before the update
    for (size_t reader : {forward[layer], input[layers - 1 - layer]})
      CHECK(order.orderBefore(reader, updates[layers - 1 - layer]));
  CHECK(order.gather(forward).size() == layers);
  CHECK(order.gather(input).size() == layers);
  CHECK(order.gather(updates).size() == 1);
  CHECK(order.gather(weights).size() == 1);
  CHECK(order.sorted().size() == 4 * layers);
  CHECK(order.steps() < 20 * waits);
}
