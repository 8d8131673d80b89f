// The plan as text.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Executable.h"
#include "tests/runtime/TestPlan.h"
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
