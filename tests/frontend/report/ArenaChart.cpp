// Live ranges of values in the arena.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/ArenaChart.h"
#include "tests/frontend/report/Parsed.h"
#include "tests/runtime/RepeatPlans.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::detail;
using Catch::Matchers::Contains;

TEST_CASE("a value lives from the launch that writes it to the last step that uses it") {
  const Executable exe = testExecutable(100);
  const std::vector<ArenaSpan> spans = arenaSpans(exe.plan);
  REQUIRE(spans.size() == 2);
  CHECK((spans[0].slot == 5 && spans[0].offset == 0 && spans[0].bytes == 400 && spans[0].first == 0 &&
         spans[0].last == 1));
  CHECK((spans[1].slot == 6 && spans[1].offset == 448 && spans[1].first == 1 && spans[1].last == 4));
  const std::string svg = arenaSvg(exe);
  parseXml(svg);
  CHECK(countOf(svg, "class=\"span float32\"") == 2);
  CHECK_THAT(svg, Contains("100xf32, 400.00 B, launches 2 to 5: net/dense_1 train.cpp:42"));
}

TEST_CASE("a value in place of another goes on in its span, and parts of a launch are one step") {
  Executable exe = testExecutable(100);
  exe.plan.slots.push_back(exe.plan.slots[5]);
  exe.plan.steps = {launchOf("add", 100, {0, 2}, {5}), launchOf("halve", 100, {5}, {8}),
                    launchOf("halve", 100, {8}, {3})};
  std::get<LaunchStep>(exe.plan.steps[1]).joined = true;
  const std::vector<ArenaSpan> spans = arenaSpans(exe.plan);
  REQUIRE(spans.size() == 1);
  CHECK((spans[0].first == 0 && spans[0].last == 1));
  exe.plan = {};
  CHECK(arenaSpans(exe.plan).empty());
  parseXml(arenaSvg(exe));
}

TEST_CASE(
    "a value of a repeat lives through all iterations if it goes from one to the next, and slices are one value") {
  const Executable nested = nestedCase(7, 3, 16).exe;
  const std::vector<ArenaSpan> both = arenaSpans(nested.plan); // h: first copy to last; g: within the repeats
  REQUIRE(both.size() == 2);
  CHECK((both[0].slot == 2 && both[0].first == 0 && both[0].last == 5));
  CHECK((both[1].slot == 3 && both[1].first == 1 && both[1].last == 4));
  const Executable scan = scanCase(20, 16, false, CarryPlace::stack).exe;
  const std::vector<ArenaSpan> spans = arenaSpans(scan.plan);
  REQUIRE(!spans.empty());
  CHECK(std::ranges::any_of(spans, [](const ArenaSpan &span) {
    return span.offset == 64 && span.bytes == 20 * 64 && span.first == 1 && span.last == 2;
  }));
  parseXml(arenaSvg(scan));
}
