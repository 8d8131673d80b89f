// Shadows: recomputed after other writes to the variable, kept if nothing changed, shared between executables.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Player.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/plan/PlanFile.h"
#include "tests/runtime/TestPlan.h"
#include <catch2/catch.hpp>
#include <functional>

using namespace halftone;
using namespace halftone::test;

namespace {

constexpr int64_t n = 100;

/// s is w * 0.5 + 1. A reader computes y := s. A writer also computes, if go is true: w := w + x, s := w * 0.5 + 1 (the
/// latter if `coWrites`). Slots: 0 x, 1 go, 2 w, 3 s, 4 y.
Executable shadowed(bool writes, bool coWrites, std::string function = "halve of w") {
  const TensorType vector{float32, {n}}, flag{DType::bool_, {}};
  Executable exe;
  exe.name = writes ? "writer" : "reader";
  exe.signature.feeds = {{"x", vector}, {"go", flag}};
  exe.signature.fetches = {{"y", vector}};
  exe.variables = {{"w", "net/w", vector, true, writes}};
  exe.kernels["add"] = {"add", "loop", "x86-64-v2", "", "object"};
  exe.kernels["halve"] = {"halve", "loop", "x86-64-v2", "", "object"};
  exe.sites = {{"net/dense"}};
  exe.plan.slots = {{SlotKind::feed, vector, 0},
                    {SlotKind::feed, flag, 1},
                    {SlotKind::variable, vector, 0},
                    {SlotKind::shadow, vector, 0},
                    {SlotKind::fetch, vector, 0}};
  exe.shadows = {{"w_halved", std::move(function), vector, 0, {}, coWrites, launchOf("halve", n, {2}, {3})}};
  exe.plan.steps = {CopyStep{3, 4, {}}};
  if (writes) {
    LaunchStep update = launchOf("add", n, {2, 0}, {2}), together = launchOf("halve", n, {2}, {3});
    update.predicate = together.predicate = Predicate{1, false};
    exe.plan.steps.push_back(update);
    if (coWrites)
      exe.plan.steps.push_back(together);
  }
  return exe;
}

/// Computes y := t, where t is s * 0.5 + 1. Slot 5: t.
Executable twiceShadowed() {
  Executable exe = shadowed(false, false);
  const TensorType vector = exe.shadows[0].type;
  exe.plan.slots.push_back({SlotKind::shadow, vector, 1});
  exe.shadows.push_back({"w_twice", "halve of halve of w", vector, 0, 0, false, launchOf("halve", n, {3}, {5})});
  exe.plan.steps = {CopyStep{5, 4, {}}};
  return exe;
}

Tensor filled(float value) { return Tensor::full({n}, value, float32); }

struct Store {
  std::shared_ptr<CpuDevice> device = CpuDevice::create(2).valueOrThrow();
  VariableStore store{device};
  VariableHandle w = store.create("net/w", filled(10)).valueOrThrow();
  std::shared_ptr<Player> bind(const Executable &exe) {
    return Player::bind(std::make_shared<const Executable>(exe), testKernels(), device, {{"w", w}}).valueOrThrow();
  }
  float play(Player &player, float x = 0, bool go = false) {
    return player.play(std::vector{filled(x), Tensor::full({}, go, DType::bool_)})
        .valueOrThrow()[0]
        .span<float>()[n - 1];
  }
  void expect(int64_t shadows, int64_t refreshes, int64_t coWrites) {
    StoredVariable::ShadowCounts counts = w->shadowCounts();
    CHECK(counts.shadows == shadows);
    CHECK(counts.refreshes == refreshes);
    CHECK(counts.coWrites == coWrites);
  }
};

} // namespace

TEST_CASE("the shadow of a frozen variable is made once for all its readers") {
  Store s;
  auto first = s.bind(shadowed(false, false)), second = s.bind(shadowed(false, false));
  s.expect(1, 0, 0);
  for (int round = 0; round < 3; ++round) {
    CHECK(s.play(*first) == 6);
    CHECK(s.play(*second) == 6);
  }
  s.expect(1, 1, 0);
  auto other = s.bind(shadowed(false, false, "another function"));
  CHECK(s.play(*other) == 6);
  s.expect(2, 2, 0);
}

TEST_CASE("a host's write makes the shadow anew before the next play") {
  Store s;
  auto reader = s.bind(shadowed(false, false));
  CHECK(s.play(*reader) == 6);
  s.w->write(filled(2)).orThrow();
  s.w->write(filled(4)).orThrow();
  CHECK(s.play(*reader) == 3);
  CHECK(s.play(*reader) == 3);
  s.expect(1, 2, 0);
}

TEST_CASE("a plan that writes variable and shadow leaves nothing to refresh, also when it skips the update") {
  Store s;
  auto writer = s.bind(shadowed(true, true)), reader = s.bind(shadowed(false, false));
  CHECK(s.play(*writer, 2, true) == 6);
  CHECK(s.play(*reader) == 7);
  CHECK(s.play(*writer, 2, false) == 7);
  CHECK(s.play(*writer, 2, true) == 7);
  CHECK(s.play(*reader) == 8);
  s.expect(1, 1, 3);
}

TEST_CASE("a plan that writes the variable alone leaves the shadow stale") {
  Store s;
  auto writer = s.bind(shadowed(true, false)), reader = s.bind(shadowed(false, false));
  CHECK(s.play(*writer, 2, true) == 6);
  CHECK(s.play(*writer, 2, true) == 7);
  CHECK(s.play(*reader) == 8);
  CHECK(s.play(*reader) == 8);
  s.expect(1, 3, 0);
}

TEST_CASE("a shadow of a shadow is refreshed from its source, which an update may have written") {
  Store s;
  auto writer = s.bind(shadowed(true, true)), reader = s.bind(twiceShadowed());
  auto expectSecond = [&](int64_t refreshes) {
    StoredVariable::ShadowCounts counts = s.w->shadowCounts();
    CHECK(counts.ofShadows == 1);
    CHECK(counts.refreshesOfShadows == refreshes);
  };
  CHECK(s.play(*reader) == 4);
  s.expect(1, 1, 0);
  expectSecond(1);
  CHECK(s.play(*writer, 2, true) == 6);
  for (int round = 0; round < 2; ++round)
    CHECK(s.play(*reader) == 4.5);
  s.expect(1, 1, 1);
  expectSecond(2);
  s.w->write(filled(2)).orThrow();
  CHECK(s.play(*reader) == 2);
  s.expect(1, 2, 1);
  expectSecond(3);

  Executable good = twiceShadowed();
  REQUIRE(verify(good).isOk());
  CHECK_THAT(print(good), Catch::Contains("@w_twice: only read, else halve (s3) -> (s5) grid 13"));
  const std::string bytes = writeExecutable(good);
  CHECK(writeExecutable(readExecutable(bytes).valueOrThrow()) == bytes);
  for (int64_t source : {-1, 1, 2}) {
    good.shadows[1].source = source;
    CHECK_THAT(verify(good).message(),
               Catch::Contains("shadow 'w_twice': shadow " + std::to_string(source) + " is not an earlier shadow"));
  }
  good.shadows[1].source = std::nullopt;
  CHECK_THAT(verify(good).message(), Catch::Contains("shadow 'w_twice': expected an unpredicated refresh"));
}

TEST_CASE("bad shadows are refused, and good ones survive a file") {
  struct Case {
    std::string message;
    std::function<void(Executable &)> spoil;
  };
  const std::vector<Case> cases = {
      {"slot 5: shadow 1 does not exist",
       [](auto &e) { e.plan.slots.push_back({SlotKind::shadow, {float32, {n}}, 1}); }},
      {"slot 3: shadow 0 has type 7xf32", [](auto &e) { e.shadows[0].type.shape = {7}; }},
      {"shadow 'w_halved': variable 1 does not exist", [](auto &e) { e.shadows[0].variable = 1; }},
      {"shadow 'w_halved': is written, but its variable is not", [](auto &e) { e.variables[0].written = false; }},
      {"shadow 'w_halved': no kernel 'mul'", [](auto &e) { e.shadows[0].refresh.kernel = "mul"; }},
      {"shadow 'w_halved': expected an unpredicated refresh", [](auto &e) { e.shadows[0].refresh.buffers[0] = 0; }},
      {"shadow 'w_halved': expected an unpredicated refresh", [](auto &e) { e.shadows[0].refresh.buffers[1] = 2; }},
      {"shadow 'w_halved': expected an unpredicated refresh",
       [](auto &e) { e.shadows[0].refresh.predicate = Predicate{1, false}; }},
      {"shadow 'w_halved': slot 9 does not exist", [](auto &e) { e.shadows[0].refresh.buffers[0] = 9; }},
      {"writes shadow 'w_halved', which is not declared as written", [](auto &e) { e.shadows[0].written = false; }},
  };
  const Executable good = shadowed(true, true);
  REQUIRE(verify(good).isOk());
  for (const Case &each : cases) {
    Executable bad = good;
    each.spoil(bad);
    Status status = verify(bad);
    INFO(each.message);
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK_THAT(status.message(), Catch::Contains(each.message));
  }
  std::string bytes = writeExecutable(good);
  CHECK(writeExecutable(readExecutable(bytes).valueOrThrow()) == bytes);
  CHECK_THAT(print(good), Catch::Contains("s3: shadow @w_halved 100xf32") &&
                              Catch::Contains("@w_halved: written with its variable, else halve (s2) -> (s3) grid 13"));
}
