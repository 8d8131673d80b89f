// Objects that own each other, destroyed without recursion.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/InTurn.h"
#include <catch2/catch.hpp>
#include <cstdint>

using namespace halftone::detail;

namespace {

int64_t alive = 0, deepest = 0, depth = 0;

struct Link {
  std::shared_ptr<Link> left{}, right{};
  Link(std::shared_ptr<Link> left, std::shared_ptr<Link> right) : left(std::move(left)), right(std::move(right)) {
    ++alive;
  }
  Link(const Link &) = delete;
  ~Link() {
    deepest = std::max(deepest, ++depth);
    {
      InTurn turn;
      turn.add(std::move(left));
      turn.add(std::move(right));
    }
    --depth;
    --alive;
  }
};

} // namespace

TEST_CASE("A chain of a million objects is destroyed by destructors of which at most two run at once") {
  deepest = 0;
  std::shared_ptr<Link> chain;
  for (int i = 0; i < 1000000; ++i)
    chain = std::make_shared<Link>(chain, i % 3 ? nullptr : std::make_shared<Link>(chain, chain));
  chain.reset();
  CHECK(alive == 0);
  CHECK(deepest == 2); // the outermost, and one of the parts that it destroys
}
