// The state of a map of written ranges after writes of whole values, of slices, and under predicates.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/WrittenRanges.h"
#include <bitset>
#include <catch2/catch.hpp>
#include <random>

using namespace halftone;
using Known = WrittenRanges::Known;

namespace {

Range bytes(int64_t begin, int64_t end) { return {SlotKind::arena, 0, begin, end}; }
RangeAccess whole(int64_t begin, int64_t end) { return {bytes(begin, end), false}; }
RangeAccess slice(int64_t begin, int64_t end) { return {bytes(begin, end), true}; }
RangeCondition under(int64_t byte, bool negated = false) { return {bytes(byte, byte + 1), negated}; }

} // namespace

TEST_CASE("A value is known as a whole, and a part of it only as a slice") {
  WrittenRanges written;
  written.write(whole(0, 64), std::nullopt);
  CHECK(written.known(whole(0, 64), std::nullopt) == Known::yes);
  CHECK(written.known(whole(0, 32), std::nullopt) == Known::no);
  CHECK(written.known(slice(0, 32), std::nullopt) == Known::yes);
  CHECK(written.known(slice(32, 96), std::nullopt) == Known::no);
  written.write(whole(32, 40), std::nullopt); // another value in the same memory
  CHECK(written.known(whole(0, 64), std::nullopt) == Known::no);
  CHECK(written.known(slice(0, 32), std::nullopt) == Known::no);
}

TEST_CASE("Slices side by side are a value, in any order and with one of them written again") {
  WrittenRanges written;
  for (const int64_t begin : {64, 0, 32})
    written.write(slice(begin, begin + 32), std::nullopt);
  CHECK(written.known(whole(0, 96), std::nullopt) == Known::yes);
  CHECK(written.known(whole(0, 97), std::nullopt) == Known::no);
  written.write(slice(16, 48), std::nullopt);
  CHECK(written.known(whole(0, 96), std::nullopt) == Known::yes);
  written.invalidate(bytes(20, 24));
  CHECK(written.known(whole(0, 96), std::nullopt) == Known::no);
  CHECK(written.known(slice(0, 20), std::nullopt) == Known::yes);
  CHECK(written.known(slice(24, 96), std::nullopt) == Known::yes);
}

TEST_CASE("A slice that is written under a predicate is known under it, until the predicate's byte is written") {
  WrittenRanges written;
  written.write(slice(0, 32), std::nullopt);
  written.write(slice(32, 64), under(1000));
  CHECK(written.known(whole(0, 64), under(1000)) == Known::yes);
  CHECK(written.known(whole(0, 64), under(1000, true)) == Known::under_predicate);
  CHECK(written.known(whole(0, 64), under(1001)) == Known::under_predicate);
  CHECK(written.known(whole(0, 64), std::nullopt) == Known::under_predicate);
  WrittenRanges both = written;
  both.write(slice(32, 64), under(1000, true));
  CHECK(both.known(whole(0, 64), std::nullopt) == Known::yes);
  written.write(whole(1000, 1001), std::nullopt);
  CHECK(written.known(whole(0, 64), under(1000)) == Known::under_predicate);
  written.write(slice(32, 48), std::nullopt); // a part of it
  CHECK(written.known(slice(32, 48), std::nullopt) == Known::yes);
  CHECK(written.known(slice(32, 64), std::nullopt) == Known::under_predicate);
}

TEST_CASE("Of two ways through a plan, only what both have written is known") {
  WrittenRanges before;
  before.write(whole(0, 64), std::nullopt);
  before.write(whole(64, 128), under(1000));
  before.write(whole(128, 192), std::nullopt);
  WrittenRanges after = before;
  after.write(whole(192, 256), std::nullopt);
  after.write(whole(64, 128), std::nullopt);
  after.write(slice(128, 136), std::nullopt);
  after.write(whole(0, 64), under(1001));
  before.meet(after);
  CHECK(before.known(whole(0, 64), std::nullopt) == Known::yes);
  CHECK(before.known(whole(64, 128), under(1000)) == Known::yes);
  CHECK(before.known(whole(64, 128), std::nullopt) == Known::under_predicate);
  CHECK(before.known(whole(128, 192), std::nullopt) == Known::no);
  CHECK(before.known(whole(192, 256), std::nullopt) == Known::no);
}

TEST_CASE("A union of ranges overlaps what any of its bytes is in") {
  std::mt19937_64 draw(7);
  const auto range = [&] {
    const int64_t begin = static_cast<int64_t>(draw() % 60);
    return bytes(begin, begin + static_cast<int64_t>(draw() % 12));
  };
  for (int repeat = 0; repeat < 200; ++repeat) {
    RangeUnion ranges;
    std::bitset<80> inside;
    for (int i = 0; i < 8; ++i) {
      const Range added = range(), asked = range();
      ranges.add(added);
      for (int64_t at = added.begin; at < added.end; ++at)
        inside.set(static_cast<size_t>(at));
      bool meets = false;
      for (int64_t at = asked.begin; at < asked.end; ++at)
        meets = meets || inside.test(static_cast<size_t>(at));
      CAPTURE(repeat, i, added.begin, added.end, asked.begin, asked.end);
      CHECK(ranges.overlaps(asked) == meets);
      CHECK_FALSE(ranges.overlaps({SlotKind::variable, 0, asked.begin, asked.end}));
    }
  }
}
