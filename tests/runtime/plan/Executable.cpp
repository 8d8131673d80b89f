// The plan as text.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Executable.h"
#include "tests/runtime/RepeatPlans.h"
#include <catch2/catch.hpp>

using namespace halftone;

TEST_CASE("a plan prints its slots and steps") {
  CHECK(print(test::testExecutable()) ==
        R"(plan step: 2 feeds, 2 fetches, 1 variables, 2 kernels, arena 896 bytes (896 live at most)
  s0: feed 0 "x" 100xf32
  s1: feed 1 "go" i1
  s2: variable @w net/w 100xf32
  s3: fetch 0 "y" 100xf32
  s4: fetch 1 "old" 100xf32
  s5: arena +0 100xf32
  s6: arena +448 100xf32
  s7: constant 0 100xf32
  add: loop, 32-byte vectors
  halve: loop
0: add (s0, s2) -> (s5) grid 13 extents [100] scratch 32 cost 1000.0 us // net/dense_1 train.cpp:42
1: halve (s5) -> (s6) grid 13 extents [100] scratch 32 cost 1000.0 us // net/dense_1 train.cpp:42
2: copy s6 -> s3
3: copy s2 -> s4
4: add (s6, s7) -> (s2) grid 13 extents [100] scratch 32 if s1 cost 1000.0 us // net/dense_1 train.cpp:42
5: zero -> s2 if not s1
)");
}

TEST_CASE("a plan prints its cores apart from its kernels") {
  Executable exe = test::testExecutable();
  exe.kernels["c"] = {"halftone_core_sums", "core", "x86-64-v2", "", "object", "6 x 64 sums in registers"};
  exe.kernels["add"].uses = {"c"};
  CHECK_THAT(print(exe), Catch::Contains("1 variables, 2 kernels, 1 cores, arena 896 bytes") &&
                             Catch::Contains("  c: core, 6 x 64 sums in registers\n"));
}

TEST_CASE("a plan that fails its verifier prints all the same") {
  Executable exe = test::testExecutable();
  exe.plan.slots[0].index = 77;
  auto &launch = std::get<LaunchStep>(exe.plan.steps[0]);
  launch.operandCount = 50;
  launch.site = 50;
  launch.joined = true;
  CHECK_THAT(print(exe),
             Catch::Contains("s0: feed 77 ? 100xf32") && Catch::Contains("0: with add (s0, s2, s5) -> () grid 13"));
}

TEST_CASE("a plan prints its collectives and the waits for them") {
  CHECK_THAT(print(test::sharingExecutable()),
             Catch::Contains("2: all_reduce sum (s6) -> (s8)\n") && Catch::Contains("6: wait\n"));
}

TEST_CASE("a plan prints its repeats with their steps behind them, and how slots move") {
  CHECK_THAT(print(test::nestedCase(7, 3, 16).exe),
             Catch::Contains("  s0: feed 0 \"x\" stride 192 stride 64 16xf32\n") &&
                 Catch::Contains("1: repeat 7 times: 5 steps\n  2: copy s2 -> s3\n  3: repeat 3 times: 2 steps\n"
                                 "    4: add (s3, s0)") &&
                 Catch::Contains("\n  6: add (s3, s2)") && Catch::Contains("\n7: copy s2 -> s5\n"));
  CHECK_THAT(print(test::scanCase(3, 16, true, test::CarryPlace::two_slots).exe),
             Catch::Contains("s0: feed 0 \"x\" +128 stride -64 16xf32\n") &&
                 Catch::Contains("s3: arena +0 stride 64 period 2 phase 1 16xf32\n"));
  CHECK_THAT(print(test::whileCase(9, 0, 5).exe), Catch::Contains("3: repeat 9 times while s4: 3 steps\n"));
}

TEST_CASE("a launch plays as often as the repeats around it say") {
  const Plan &nested = test::nestedCase(7, 3, 16).exe.plan;
  CHECK(nested.timesPlayed() == std::vector<int64_t>{1, 1, 7, 7, 21, 21, 7, 1});
  CHECK(nested.launches() == 49);
  CHECK(test::whileCase(9, 0, 5).exe.plan.launches() == 3); // the iteration count is unknown, so it counts once
}

TEST_CASE("the slots of a step are those that it reads, then those that it writes") {
  LaunchStep launch = test::launchOf("add", 8, {4, 5}, {6});
  launch.predicate = Predicate{7, true};
  const auto text = [](const Step &step) {
    std::string slots;
    for (const TouchedSlot &each : slotsOf(step))
      slots += std::to_string(each.slot) + (each.isWritten ? "w " : " ");
    return slots;
  };
  CHECK(text(launch) == "7 4 5 6w ");
  CHECK(text(CopyStep{-1, 3, {}}) == "3w ");
  CHECK(text(CopyStep{2, 3, Predicate{1, false}}) == "1 2 3w ");
  CHECK(text(CollectiveStep{CollectiveKind::sum, {1, 2}, {3, 4}}) == "1 2 3w 4w ");
  CHECK(text(RepeatStep{3, 1, Predicate{9, false}}) == "9 ");
  CHECK(text(WaitStep{}).empty());
}
