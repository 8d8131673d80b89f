// Checks that verify() rejects each kind of invalid plan, and no valid plan.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/TestPlan.h"
#include <catch2/catch.hpp>
#include <functional>

using namespace halftone;
using namespace halftone::test;

namespace {

LaunchStep &launch(Executable &exe, size_t step) { return std::get<LaunchStep>(exe.plan.steps[step]); }
CopyStep &copy(Executable &exe, size_t step) { return std::get<CopyStep>(exe.plan.steps[step]); }

CollectiveStep &collective(Executable &exe) { return std::get<CollectiveStep>(exe.plan.steps[2]); }

struct BadPlan {
  const char *expected;
  std::function<void(Executable &)> spoil;
};

const BadPlan badPlans[] = {
    {"slot 5: arena offset 4 is not a multiple of 64", [](auto &e) { e.plan.slots[5].index = 4; }},
    {"slot 6: 400 bytes at offset 896 leave the arena", [](auto &e) { e.plan.slots[6].index = 896; }},
    {"slot 6: 400 bytes at offset 576", [](auto &e) { e.plan.slots[6].index = 576; }},
    {"slot 5: arena offset -64", [](auto &e) { e.plan.slots[5].index = -64; }},
    {"arena of -1 bytes", [](auto &e) { e.plan.arenaBytes = -1; }},
    {"4096 bytes live at once", [](auto &e) { e.plan.largestLiveBytes = 4096; }},
    {"slot 0: feed 2 does not exist; there are 2", [](auto &e) { e.plan.slots[0].index = 2; }},
    {"slot 3: fetch -1 does not exist", [](auto &e) { e.plan.slots[3].index = -1; }},
    {"slot 2: variable 1 does not exist", [](auto &e) { e.plan.slots[2].index = 1; }},
    {"slot 7: constant 9 does not exist", [](auto &e) { e.plan.slots[7].index = 9; }},
    {"slot 7: constant 0 has 3 bytes, 100xf32 needs 400", [](auto &e) { e.constants[0] = "abc"; }},
    {"slot 0: feed 0 has type 7xf32, the slot 100xf32", [](auto &e) { e.signature.feeds[0].type.shape = {7}; }},
    {"slot 2: variable 0 has type 100xf16", [](auto &e) { e.variables[0].type.dtype = float16; }},
    {"slot 5: negative dimension", [](auto &e) { e.plan.slots[5].type.shape = {-3}; }},
    {"parameter 'x': negative dimension", [](auto &e) { e.signature.feeds[0].type.shape = {-3}; }},
    {"variable 'w' is listed twice", [](auto &e) { e.variables.push_back(e.variables[0]); }},
    {"step 0: no kernel 'mul'", [](auto &e) { launch(e, 0).kernel = "mul"; }},
    {"step 0: no kernel 'add'", [](auto &e) { e.kernels["add"].kind = "core"; }},
    {"kernel add uses halve, a kernel of kind 'loop'; expected a core",
     [](auto &e) { e.kernels["add"].uses = {"halve"}; }},
    {"step 0: grid -1", [](auto &e) { launch(e, 0).grid = -1; }},
    {"scratch -8", [](auto &e) { launch(e, 0).scratchBytes = -8; }},
    {"cost nan", [](auto &e) { launch(e, 0).cost = NAN; }},
    {"step 1: site 1 does not exist", [](auto &e) { launch(e, 1).site = 1; }},
    {"step 1: 3 operands among 2 buffers", [](auto &e) { launch(e, 1).operandCount = 3; }},
    {"step 1: slot 8 does not exist", [](auto &e) { launch(e, 1).buffers[0] = 8; }},
    {"step 1: slot -1 does not exist", [](auto &e) { launch(e, 1).buffers[1] = -1; }},
    {"step 2: slot 99 does not exist", [](auto &e) { copy(e, 2).from = 99; }},
    {"step 2: slot -1 does not exist", [](auto &e) { copy(e, 2).to = -1; }},
    {"step 2: copies 100xf32 to i1", [](auto &e) { copy(e, 2).to = 1; }},
    {"step 2: slots 6 and 6 overlap", [](auto &e) { copy(e, 2).to = 6; }},
    {"step 2: writes slot 0, a feed", [](auto &e) { copy(e, 2).to = 0; }},
    {"step 0: writes slot 0, a feed", [](auto &e) { launch(e, 0).buffers = {2, 7, 0}; }},
    {"step 2: writes slot 7, a constant", [](auto &e) { copy(e, 2).to = 7; }},
    {"writes variable 'w', which is not declared as written", [](auto &e) { e.variables[0].written = false; }},
    {"step 4: predicate slot 0 has type 100xf32, expected one i1", [](auto &e) { launch(e, 4).predicate->slot = 0; }},
    {"step 5: predicate slot 50 does not exist", [](auto &e) { copy(e, 5).predicate->slot = 50; }},
    {"step 0: reads slot 6, whose bytes no earlier step wrote", [](auto &e) { launch(e, 0).buffers[0] = 6; }},
    {"step 1: result slot 6 overlaps operand slot 5", [](auto &e) { e.plan.slots[6].index = 64; }},
    {"step 0: result slot 5 overlaps result slot 5",
     [](auto &e) { launch(e, 0).operandCount = 1, launch(e, 0).buffers = {0, 5, 5}; }},
    {"fetch 0 'y' is not written", [](auto &e) { copy(e, 2).to = 5; }},
    {"fetch 0 'y' is not written unconditionally", [](auto &e) { copy(e, 2).predicate = Predicate{1, false}; }},
    {"step 1: reads slot 5, which was written only under a predicate",
     [](auto &e) { launch(e, 0).predicate = Predicate{1, false}; }},
    {"step 1: reads slot 5, which was written only under a predicate",
     [](auto &e) { launch(e, 0).predicate = Predicate{1, false}, launch(e, 1).predicate = Predicate{1, true}; }},
    {"step 3: reads slot 6, whose bytes no earlier step wrote or a later one has overwritten",
     [](auto &e) {
       e.plan.slots.push_back({SlotKind::arena, {float32, {2}}, e.plan.slots[6].index});
       e.plan.steps.insert(e.plan.steps.begin() + 2, CopyStep{-1, 8, {}});
     }},
    {"step 0: joined, but not to a launch", [](auto &e) { launch(e, 0).joined = true; }},
    {"step 1: joined, but not to a launch", [](auto &e) { launch(e, 1).joined = true; }},
    {"step 4: joined, but not to a launch", [](auto &e) { launch(e, 4).joined = true; }},
    {"step 5: joined, but not to a launch",
     [](auto &e) {
       e.plan.steps.insert(e.plan.steps.begin() + 5, launch(e, 4));
       launch(e, 5).joined = true;
       launch(e, 5).predicate->negated = true;
     }},
    {"step 1: slot 5 of one part of a launch overlaps another part's", // a part reads bytes that the other writes
     [](auto &e) {
       e.plan.steps.insert(e.plan.steps.begin() + 1, launch(e, 0));
       launch(e, 1).joined = true;
       launch(e, 1).buffers = {5, 2, 6};
     }},
    {"step 1: slot 5 of one part of a launch overlaps another part's", // both parts write the same bytes
     [](auto &e) {
       e.plan.steps.insert(e.plan.steps.begin() + 1, launch(e, 0));
       launch(e, 1).joined = true;
     }},
    {"step 1: slot 10 of one part of a launch overlaps another part's", // the other part reads nested slices
     [](auto &e) {
       e.variables[0].written = true;
       e.plan.slots.push_back({SlotKind::variable, {float32, {64}}, 0, 64});
       e.plan.slots.push_back({SlotKind::variable, {float32, {16}}, 0, 128});
       e.plan.slots.push_back({SlotKind::variable, {float32, {16}}, 0, 256});
       launch(e, 0).buffers = {8, 9, 5};
       e.plan.steps.insert(e.plan.steps.begin() + 1, launch(e, 0));
       launch(e, 1).joined = true;
       launch(e, 1).buffers = {0, 0, 10};
     }},
    {"step 5: slot 6 of one part of a launch overlaps another part's", // a part writes bytes that the other reads
     [](auto &e) {
       e.plan.steps.insert(e.plan.steps.begin() + 5, launch(e, 4));
       launch(e, 5).joined = true;
       launch(e, 5).buffers = {7, 7, 6};
     }},
};

} // namespace

TEST_CASE("the hazard checker accepts a right plan") {
  Status status = verify(testExecutable());
  INFO(status.str());
  CHECK(status.isOk());
  CHECK(verify(Executable()).isOk());
}

TEST_CASE("both branches of a predicate together write a slot") {
  Executable exe = testExecutable();
  copy(exe, 2).predicate = Predicate{1, false};
  exe.plan.steps.push_back(CopyStep{7, 3, Predicate{1, true}});
  CHECK(verify(exe).isOk());
}

TEST_CASE("a slot that both branches wrote stays written when the predicate's memory is used again") {
  Executable exe = testExecutable();
  exe.plan.slots.push_back({SlotKind::arena, {DType::bool_, {}}, 2 * 448});
  exe.plan.arenaBytes = 3 * 448;
  auto &steps = exe.plan.steps;
  launch(exe, 1).predicate = Predicate{8, false};
  steps.insert(steps.begin() + 1, CopyStep{1, 8, {}});
  steps.insert(steps.begin() + 3, {CopyStep{-1, 6, Predicate{8, true}}, CopyStep{-1, 8, {}}});
  Status status = verify(exe);
  INFO(status.str());
  CHECK(status.isOk());
}

TEST_CASE("a slot may be read under its writer's predicate") {
  Executable exe = testExecutable();
  launch(exe, 1).predicate = copy(exe, 2).predicate = Predicate{1, false};
  exe.plan.steps.insert(exe.plan.steps.begin(), CopyStep{-1, 3, {}});
  Status status = verify(exe);
  INFO(status.str());
  CHECK(status.isOk());
}

TEST_CASE("an overwritten predicate says nothing of slots that were written under it") {
  Executable exe = testExecutable();
  exe.plan.slots.push_back({SlotKind::arena, {DType::bool_, {}}, 2 * 448});
  exe.plan.arenaBytes = 3 * 448;
  auto &steps = exe.plan.steps;
  launch(exe, 0).predicate = launch(exe, 1).predicate = Predicate{8, false};
  copy(exe, 2).predicate = Predicate{8, false};
  steps.insert(steps.begin(), {CopyStep{1, 8, {}}, CopyStep{-1, 3, {}}});
  launch(exe, 6).predicate.reset();
  launch(exe, 6).buffers = {7, 7, 2};
  CHECK(verify(exe).isOk());
  steps.insert(steps.begin() + 3, CopyStep{-1, 8, {}});
  CHECK_THAT(verify(exe).message(), Catch::Contains("step 4: reads slot 5, which was written only under a predicate"));
}

TEST_CASE("a step that writes the byte of its own predicate is refused") {
  Executable exe = testExecutable();
  exe.plan.slots.push_back({SlotKind::arena, {DType::bool_, {}}, 2 * 448});
  exe.plan.arenaBytes = 3 * 448;
  auto &steps = exe.plan.steps;
  steps.insert(steps.begin(), {CopyStep{1, 8, {}}, CopyStep{1, 8, Predicate{1, false}}});
  CHECK(verify(exe).str() == "ok");
  std::get<CopyStep>(steps[1]).predicate->slot = 8;
  CHECK_THAT(verify(exe).message(), Catch::Contains("step 1: writes slot 8, which overlaps its own predicate"));
}

TEST_CASE("two shadows of one function of one variable are refused: they share memory") {
  Executable exe = testExecutable();
  for (const int64_t index : {0, 1}) {
    exe.plan.slots.push_back({SlotKind::shadow, exe.variables[0].type, index});
    LaunchStep refresh = launch(exe, 1);
    refresh.buffers = {2, static_cast<SlotId>(exe.plan.slots.size() - 1)};
    ShadowSlot shadow{index == 0 ? "a" : "b", index == 0 ? "cast" : "pack", exe.variables[0].type, 0, {}, false, {}};
    shadow.refresh = refresh;
    exe.shadows.push_back(shadow);
  }
  CHECK(verify(exe).str() == "ok");
  exe.shadows[1].function = "cast";
  CHECK_THAT(verify(exe).message(), Catch::Contains("shadow 'b' and shadow 'a' are the same function"));
}

TEST_CASE("a reshaped alias of a slot reads the slot's elements") {
  Executable exe = testExecutable();
  exe.plan.slots.push_back({SlotKind::arena, {float32, {10, 10}}, exe.plan.slots[5].index});
  launch(exe, 1).buffers[0] = 8;
  CHECK(verify(exe).isOk());
}

TEST_CASE("a result may take exactly an operand's place") {
  Executable exe = testExecutable();
  launch(exe, 1).buffers[1] = 5;
  copy(exe, 2).from = 5;
  launch(exe, 4).buffers[0] = 5;
  CHECK(verify(exe).isOk());
}

TEST_CASE("the hazard checker names each fault of a plan") {
  for (const BadPlan &bad : badPlans) {
    Executable exe = testExecutable();
    bad.spoil(exe);
    Status status = verify(exe);
    INFO("expected: " << bad.expected);
    REQUIRE(!status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK_THAT(status.message(), Catch::Contains(bad.expected));
  }
}

TEST_CASE("independent parts of a launch are accepted") {
  Executable exe = testExecutable();
  exe.plan.steps.insert(exe.plan.steps.begin() + 1, launch(exe, 0));
  launch(exe, 1).joined = true;
  launch(exe, 1).buffers = {0, 7, 6};
  Status status = verify(exe);
  INFO(status.str());
  CHECK(status.isOk());
  CHECK(exe.plan.launches() == 3);
}

TEST_CASE("A collective's values travel until its wait, and no step between may disturb them") {
  CHECK(verify(sharingExecutable()).str() == "ok");
  CHECK(verify(sharingExecutable(0)).str() == "ok");
  const BadPlan bad[] = {
      {"step 2: a collective has 2 operands and 1 results", [](auto &e) { collective(e).from = {6, 5}; }},
      {"step 2: a collective has 0 operands", [](auto &e) { collective(e).from = collective(e).to = {}; }},
      {"step 2: slot 50 does not exist", [](auto &e) { collective(e).to = {50}; }},
      {"step 2: combines 100xf32 into i1", [](auto &e) { e.plan.slots[8].type = {DType::bool_, {}}; }},
      {"step 2: result slot 6 overlaps an operand", [](auto &e) { collective(e).to = {6}; }},
      {"step 2: writes slot 0, a feed", [](auto &e) { collective(e).to = {0}; }},
      {"step 2: reads slot 8, whose bytes no earlier step wrote", [](auto &e) { collective(e).from = {8}; }},
      {"step 3: reads slot 8, which a collective in flight uses", [](auto &e) { copy(e, 3).from = 8; }},
      {"step 3: writes slot 8, which a collective in flight uses", [](auto &e) { copy(e, 3).to = 8; }},
      {"step 5: writes slot 6, which a collective in flight uses", [](auto &e) { copy(e, 5).to = 6; }},
      {"step 6: reads slot 8, which a collective in flight uses",
       [](auto &e) { std::swap(e.plan.steps[6], e.plan.steps[7]); }},
      {"step 8: waits, but no collective is in flight", [](auto &e) { e.plan.steps.emplace_back(WaitStep{}); }},
      {"a collective has no wait",
       [](auto &e) { e.plan.steps.emplace_back(CollectiveStep{CollectiveKind::max, {5}, {8}}); }},
  };
  for (const BadPlan &each : bad) {
    Executable exe = sharingExecutable();
    each.spoil(exe);
    CHECK_THAT(verify(exe).str(), Catch::Contains(each.expected));
  }
  const std::vector<BadPlan> badParts{
      {"step 2: a collective of 1 values has offsets for 0", [](auto &e) { collective(e).offsets.clear(); }},
      {"step 2: a collective of whole values has offsets", [](auto &e) { collective(e).kind = CollectiveKind::max; }},
      {"step 2: offsets [0, 90, 30]", [](auto &e) { collective(e).offsets = {{0, 90, 30}}; }},
      {"step 2: offsets [1, 30, 90]", [](auto &e) { collective(e).offsets = {{1, 30, 90}}; }},
      {"step 2: offsets [0]", [](auto &e) { collective(e).offsets = {{0}}; }},
      {"step 2: rank 2 of 2 processes", [](auto &e) { collective(e).rank = 2; }},
      {"step 2: rank -1 of 2 processes", [](auto &e) { collective(e).rank = -1; }},
      {"step 2: combines 90xf32 into 60xf32", [](auto &e) { collective(e).rank = 0; }},
      {"step 2: combines 90xf32 into 60xf32", [](auto &e) { collective(e).offsets = {{0, 30, 91}}; }},
      {"step 2: combines 90xf32 into 60xf32", [](auto &e) { collective(e).kind = CollectiveKind::gather; }},
  };
  for (const BadPlan &each : badParts) {
    Executable exe = dividingExecutable(90, 1);
    CHECK(verify(exe).isOk());
    each.spoil(exe);
    CHECK_THAT(verify(exe).str(), Catch::Contains(each.expected));
  }
}
