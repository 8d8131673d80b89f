// Lines of items against vectors.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/Line.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace halftone::compiler;

static void requireSame(const Line &line, const std::vector<size_t> &items) {
  for (size_t at = 0; at < items.size(); ++at) {
    REQUIRE(line.previous(items[at]) == (at == 0 ? Line::end : items[at - 1]));
    if (at > 0)
      REQUIRE(line.isBefore(items[at - 1], items[at]));
  }
  REQUIRE(line.previous(Line::end) == (items.empty() ? Line::end : items.back()));
}

TEST_CASE("a line keeps its order while items come, go and move") {
  std::mt19937 random(5);
  Line line(3);
  std::vector<size_t> items{0, 1, 2}, away;
  requireSame(line, items);
  for (int round = 0; round < 500; ++round) {
    const size_t at = random() % (items.size() + 1);
    const size_t left = at == 0 ? Line::end : items[at - 1];
    const auto place = items.begin() + static_cast<int64_t>(at);
    if (random() % 3 == 0 && items.size() > 1) {
      const size_t gone = items[random() % items.size()];
      line.remove(gone);
      items.erase(std::find(items.begin(), items.end(), gone));
      away.push_back(gone);
    } else if (random() % 2 == 0) {
      line.put(left, away);
      items.insert(place, away.begin(), away.end());
      away.clear();
    } else {
      items.insert(place, line.add(left));
    }
    requireSame(line, items);
  }
}

TEST_CASE("a line finds numbers for any count of items in one place") {
  Line line;
  std::vector<size_t> items{line.append(), line.append()};
  for (int round = 0; round < 300; ++round) // each round halves the remaining gap between two labels
    items.insert(items.begin() + 1, line.add(items.front()));
  requireSame(line, items);
}
