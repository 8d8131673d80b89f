// Plans with repeats: those that are accepted, and the error of each of the others.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/RepeatRules.h"
#include "tests/runtime/RepeatPlans.h"
#include <catch2/catch.hpp>
#include <functional>

using namespace halftone;
using namespace halftone::test;

namespace {

struct BadRepeat {
  const char *expected;
  std::function<void(Executable &)> spoil;
};

LaunchStep &launchAt(Executable &exe, size_t step) { return std::get<LaunchStep>(exe.plan.steps[step]); }
RepeatStep &repeatAt(Executable &exe, size_t step) { return std::get<RepeatStep>(exe.plan.steps[step]); }

void checkRefused(const Executable &good, const std::vector<BadRepeat> &bad) {
  REQUIRE(verify(good).str() == "ok");
  for (const BadRepeat &each : bad) {
    Executable exe = good;
    each.spoil(exe);
    const Status status = verify(exe);
    INFO("expected: " << each.expected);
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK_THAT(status.str(), Catch::Contains(each.expected));
  }
}

constexpr int64_t huge = int64_t(1) << 62;

} // namespace

TEST_CASE("The hazard checker accepts repeats, and slices that cover a tensor are written as a whole") {
  for (const RepeatCase &each : repeatCases()) {
    INFO(print(each.exe));
    CHECK(verify(each.exe).str() == "ok");
  }
}

TEST_CASE("The hazard checker takes no longer for a long repeat") {
  CHECK(verify(scanCase(100'000, 16, true, CarryPlace::stack).exe).isOk());
  CHECK(verify(whileCase(INT64_MAX, 0, 1).exe).isOk());
  CHECK(verify(nestedCase(2000, 300, 16).exe).isOk());
}

TEST_CASE("The hazard checker names each fault of a repeat") {
  checkRefused(
      scanCase(6, 32, false, CarryPlace::stack).exe,
      {{"step 1: repeats 2 steps 0 times; 3 steps follow", [](auto &e) { repeatAt(e, 1).count = 0; }},
       {"step 1: repeats 4 steps 6 times; 3 steps follow", [](auto &e) { repeatAt(e, 1).steps = 4; }},
       {"step 1: repeats 0 steps 6 times", [](auto &e) { repeatAt(e, 1).steps = 0; }},
       {"step 1: repeats -1 steps", [](auto &e) { repeatAt(e, 1).steps = -1; }},
       {"slot 0: a stride with period 3 and phase 0", [](auto &e) { e.plan.slots[0].strides[0].period = 3; }},
       {"slot 0: a stride with period 0 and phase 1", [](auto &e) { e.plan.slots[0].strides[0].phase = 1; }},
       {"slot 0: 9 strides; expected at most 8", [](auto &e) { e.plan.slots[0].strides.resize(9); }},
       {"step 2: slot 0 has 2 strides in 1 repeats", [](auto &e) { e.plan.slots[0].strides.push_back({}); }},
       {"step 0: slot 6 has 1 strides in 0 repeats", [](auto &e) { e.plan.slots[6].strides.push_back({}); }},
       {"step 2: slot 0 has bytes 128 to 896 of a tensor of 768", [](auto &e) { e.plan.slots[0].offset = 128; }},
       {"step 2: slot 0 has bytes -640 to 128", [](auto &e) { e.plan.slots[0].strides[0].bytes = -128; }},
       {"step 2: slot 0 has bytes 0 to 9223372036854775807", [](auto &e) { e.plan.slots[0].strides[0].bytes = huge; }},
       {"step 2: slot 2 has bytes 0 to 1408 of a tensor of 896",
        [](auto &e) { e.plan.slots[2].strides[0].bytes = 256; }},
       {"step 2: slot 0 has a stride that is not a multiple of 64",
        [](auto &e) { e.plan.slots[0].strides[0].bytes = 32; }},
       {"slot 0: feed 0 has type 6x32xf32", [](auto &e) { e.plan.slots[0].type.dtype = float16; }},
       {"step 2: reads slot 2, whose bytes no earlier step wrote",
        [](auto &e) { e.plan.steps[0] = CopyStep{1, 5, {}}; }},
       {"step 3: joined, but not to a launch",
        [](auto &e) { repeatAt(e, 1).steps = 1, launchAt(e, 3).kernel = "add", launchAt(e, 3).joined = true; }},
       {"step 2: joined, but not to a launch", [](auto &e) { launchAt(e, 2).joined = true; }},
       {"step 2: a collective in a repeat",
        [](auto &e) { e.plan.steps[2] = CollectiveStep{CollectiveKind::sum, {0}, {3}}; }},
       {"step 2: a wait in a repeat", [](auto &e) { e.plan.steps[2] = WaitStep{}; }},
       {"fetch 1 'y' is not written", [](auto &e) { e.plan.slots[4].strides[0].bytes = 0; }},
       {"fetch 1 'y' is not written", // a predicate in a repeat may differ from iteration to iteration
        [](auto &e) {
          e.signature.feeds.push_back({"go", {DType::bool_, {}}});
          e.plan.slots.push_back({SlotKind::feed, {DType::bool_, {}}, 2});
          launchAt(e, 3).predicate = Predicate{8, false};
        }},
       {"step 2: slots 3 and 0 overlap in some iteration", // the stack is read from its end and written from its begin
        [](auto &e) { e.plan.slots[0] = {SlotKind::arena, e.plan.slots[0].type, 0, 6 * 128, {{-128}}}; }},
       {"step 2: result slot 3 overlaps operand slot 2", [](auto &e) { e.plan.slots[3].offset = 64; }}});
  Executable nine = emptyExecutable();
  for (int64_t steps = 9; steps > 0; --steps)
    nine.plan.steps.emplace_back(RepeatStep{2, steps});
  nine.plan.slots = {{SlotKind::arena, {float32, {16}}, 0}};
  nine.plan.arenaBytes = nine.plan.largestLiveBytes = 64;
  nine.plan.steps.emplace_back(CopyStep{-1, 0, {}});
  CHECK_THAT(verify(nine).str(), Catch::Contains("step 8: repeats nest more than 8 deep"));
  nine.plan.steps.erase(nine.plan.steps.begin());
  CHECK(verify(nine).str() == "ok");
}

TEST_CASE("A value of a repeat that may end at once is not written behind it") {
  checkRefused(whileCase(9, 0, 5).exe,
               {{"step 7: reads slot 3, whose bytes no earlier step wrote", // v is written only in the body
                 [](auto &e) {
                   e.plan.slots.push_back({SlotKind::variable, {float32, {16}}, 0});
                   e.variables = {{"w", "net/w", {float32, {16}}, true, false}};
                   launchAt(e, 1).buffers[0] = 7;
                   launchAt(e, 4).buffers[0] = 7;
                   e.plan.steps[0] = CopyStep{-1, 6, {}};
                 }},
                {"step 3: reads slot 4, whose bytes no earlier step wrote",
                 [](auto &e) { e.plan.steps[2] = CopyStep{0, 6, {}}; }},
                {"step 3: predicate slot 3 has type 16xf32", [](auto &e) { repeatAt(e, 3).running->slot = 3; }},
                {"step 5: writes slot 4, which overlaps its own predicate", // blocks read it until the launch ends
                 [](auto &e) { launchAt(e, 5).buffers[2] = 4; }}});
}

TEST_CASE("Memory between the iterations that are checked as steps is not written unless slices cover it") {
  // Every second one of 20 slices is written. Slice 18, 8 or 17, counted from 0, is read after the repeat.
  Executable exe = emptyExecutable();
  const TensorType row{float32, {16}};
  exe.signature.fetches = {{"y", row}};
  exe.plan.slots = {
      {SlotKind::arena, row, 0, 0, {{128}}}, {SlotKind::arena, row, 0, 18 * 64}, {SlotKind::fetch, row, 0}};
  exe.plan.steps = {RepeatStep{10, 1}, CopyStep{-1, 0, {}}, CopyStep{1, 2, {}}};
  exe.plan.arenaBytes = exe.plan.largestLiveBytes = 20 * 64;
  CHECK(verify(exe).str() == "ok");
  for (const int64_t slice : {8, 17}) {
    exe.plan.slots[1].offset = slice * 64;
    CHECK_THAT(verify(exe).str(), Catch::Contains("step 2: reads slot 1, whose bytes no earlier step wrote"));
  }
  exe.plan.slots[0].strides[0].bytes = 64;
  exe.plan.slots[1].offset = 8 * 64;
  CHECK(verify(exe).str() == "ok");
  // A value that slices of an intermediate iteration overwrite is lost.
  exe.plan.slots.push_back({SlotKind::arena, row, 5 * 64});
  exe.plan.steps = {CopyStep{-1, 3, {}}, RepeatStep{10, 1}, CopyStep{-1, 0, {}}, CopyStep{3, 2, {}}};
  CHECK(verify(exe).str() == "ok"); // it is rewritten as a slice
  exe.plan.slots[0].strides[0].bytes = 128;
  exe.plan.slots[3].index = 6 * 64;
  CHECK_THAT(verify(exe).str(), Catch::Contains("step 3: reads slot 3, whose bytes no earlier step wrote"));
}

TEST_CASE("The hull of a slot is that of all its slices") {
  Slot slot{SlotKind::feed, {float32, {16}}, 0, 128, {{256}, {-64}}};
  const SlotHull all = hullOf(slot, std::vector<int64_t>{3, 3});
  CHECK((all.begin == 0 && all.end == 704 && !all.isCovered));
  const SlotHull inner = hullOf(slot, std::vector<int64_t>{3, 3}, 1);
  CHECK((inner.begin == 0 && inner.end == 192 && inner.isCovered));
  slot.strides[0].bytes = 192;
  CHECK(hullOf(slot, std::vector<int64_t>{3, 3}).isCovered);
  slot.strides = {{huge}};
  CHECK(hullOf(slot, std::vector<int64_t>{1000}).end == INT64_MAX);
  slot.strides = {{64, 2, 1}};
  CHECK(hullOf(slot, std::vector<int64_t>{1}).begin == 192);
  CHECK(hullOf(slot, std::vector<int64_t>{2}).end - hullOf(slot, std::vector<int64_t>{2}).begin == 128);
}
