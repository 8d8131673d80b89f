// Compares ordered lists with vectors.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/order/OrderedList.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace halftone::compiler;

static void requireSame(const OrderedList &list, const std::vector<size_t> &items) {
  for (size_t at = 0; at < items.size(); ++at) {
    REQUIRE(list.previous(items[at]) == (at == 0 ? OrderedList::end : items[at - 1]));
    if (at > 0)
      REQUIRE(list.isBefore(items[at - 1], items[at]));
  }
  REQUIRE(list.previous(OrderedList::end) == (items.empty() ? OrderedList::end : items.back()));
}

TEST_CASE("an ordered list keeps its order while items are added, removed and moved") {
  std::mt19937 random(5);
  OrderedList list(3);
  std::vector<size_t> items{0, 1, 2}, away;
  requireSame(list, items);
  for (int round = 0; round < 500; ++round) {
    const size_t at = random() % (items.size() + 1);
    const size_t left = at == 0 ? OrderedList::end : items[at - 1];
    const auto place = items.begin() + static_cast<int64_t>(at);
    if (random() % 3 == 0 && items.size() > 1) {
      const size_t gone = items[random() % items.size()];
      list.remove(gone);
      items.erase(std::find(items.begin(), items.end(), gone));
      away.push_back(gone);
    } else if (random() % 2 == 0) {
      list.put(left, away);
      items.insert(place, away.begin(), away.end());
      away.clear();
    } else {
      items.insert(place, list.add(left));
    }
    requireSame(list, items);
  }
}

TEST_CASE("an ordered list finds labels for any count of items at one position") {
  OrderedList list;
  std::vector<size_t> items{list.append(), list.append()};
  for (int round = 0; round < 300; ++round) // each round halves the remaining gap between two labels
    items.insert(items.begin() + 1, list.add(items.front()));
  requireSame(list, items);
}
