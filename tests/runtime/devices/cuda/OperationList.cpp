// Repeats on an emulated GPU: graphs of all iterations, early exit, and repeats too long for graphs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/OperationList.h"
#include "runtime/Player.h"
#include "tests/runtime/RepeatPlans.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

namespace {

std::shared_ptr<Player> playerOn(const EmulatedGpu &gpu, const Executable &exe) {
  auto library = gpu->load(planKernels());
  INFO(library.status().str());
  REQUIRE(library.isOk());
  auto player = Player::bind(std::make_shared<const Executable>(exe), *library, gpu.device, {});
  INFO(player.status().str());
  REQUIRE(player.isOk());
  return *player;
}

std::vector<Tensor> checkPlay(Player &player, const RepeatCase &each, const std::vector<Tensor> &feeds) {
  StatusOr<std::vector<Tensor>> fetched = player.play(feeds);
  INFO(fetched.status().str());
  REQUIRE(fetched.isOk());
  for (size_t i = 0; i < fetched->size(); ++i)
    CHECK((*fetched)[i].to_vector<float>() == each.fetches[i]);
  return *std::move(fetched);
}

/// A plan that fetches a slot after `count` iterations of `fills` fills of one slot each.
Executable fillsExecutable(int64_t count, int fills) {
  Executable exe = emptyExecutable();
  const TensorType row{float32, {16}};
  exe.signature.fetches = {{"y", row}};
  exe.plan.slots = {{SlotKind::arena, row, 0}, {SlotKind::fetch, row, 0}};
  exe.plan.steps = {RepeatStep{count, fills}};
  exe.plan.steps.insert(exe.plan.steps.end(), static_cast<size_t>(fills), CopyStep{-1, 0, {}});
  exe.plan.steps.emplace_back(CopyStep{0, 1, {}});
  exe.plan.arenaBytes = exe.plan.largestLiveBytes = 64;
  return exe;
}

} // namespace

TEST_CASE("A plan with repeats gives on a GPU what it gives on the CPU, and is one graph from its second play on") {
  for (const char *seed : {"0", "1"})
    for (const RepeatCase &each : repeatCases()) {
      const EmulatedGpu gpu({{"HALFTONE_EMULATOR_SEED", seed}});
      INFO(each.name << "\n" << print(each.exe));
      const auto player = playerOn(gpu, each.exe);
      for (int play = 0; play < 3; ++play)
        checkPlay(*player, each, tensorsOf(each));
      CHECK(gpu->counters().graphLaunches == 2);
      CHECK(gpu->counters().graphUpdates == 0);
      CHECK(emulatorFault().empty());
    }
}

TEST_CASE("A graph with repeats takes the addresses of each play's feeds in all iterations") {
  const RepeatCase each = scanCase(6, 32, true, CarryPlace::two_slots);
  const EmulatedGpu gpu;
  const auto player = playerOn(gpu, each.exe);
  // The second fetch of the plan is as large as its first feed. Live tensors keep their memory.
  std::vector<Tensor> feeds = tensorsOf(each), kept;
  for (int play = 0; play < 4; ++play) {
    std::vector<float> y(feeds[0].to_vector<float>()), last = feeds[1].to_vector<float>();
    RepeatCase now = each;
    now.fetches = {last, y};
    for (int64_t row = 5; row >= 0; --row)
      for (int64_t i = 0; i < 32; ++i) {
        now.fetches[0][static_cast<size_t>(i)] += y[static_cast<size_t>(row * 32 + i)];
        now.fetches[1][static_cast<size_t>(row * 32 + i)] = now.fetches[0][static_cast<size_t>(i)] * 0.5f + 1;
      }
    const std::vector<Tensor> fetched = checkPlay(*player, now, feeds);
    feeds = {fetched[1], fetched[0]};
    kept.insert(kept.end(), feeds.begin(), feeds.end());
  }
  CHECK(gpu->counters().graphLaunches == 3);
  CHECK(gpu->counters().graphUpdates > 0);
}

TEST_CASE("A changed address changes the nodes that have it, behind repeats too, and no others") {
  Executable exe = fillsExecutable(40, 3);
  const TensorType row = exe.plan.slots[0].type;
  exe.signature.feeds = {{"x", row}};
  exe.plan.slots.push_back({SlotKind::feed, row, 0});
  exe.plan.steps.insert(exe.plan.steps.begin(), launchOf("add", 16, {2, 2}, {0}));
  exe.plan.steps.back() = launchOf("add", 16, {0, 2}, {1}); // the fills have left zeros
  const EmulatedGpu gpu;
  const auto player = playerOn(gpu, exe);
  std::vector<Tensor> feeds; // on the GPU
  for (const float value : {1, 2, 3})
    feeds.push_back(player->play(std::vector{Tensor(std::vector<float>(16, value), {16})}).valueOrThrow()[0]);
  CHECK(gpu->counters().graphUpdates == 0);
  for (size_t play = 0; play < 6; ++play) {
    const int64_t before = gpu->counters().graphUpdates;
    const Tensor found = player->play(std::vector{feeds[play % 3]}).valueOrThrow()[0];
    CHECK(gpu->counters().graphUpdates - before == 2);
    CHECK(found.to_vector<float>() == std::vector<float>(16, static_cast<float>(play % 3 + 1)));
  }
}

TEST_CASE("A repeat that may end early plays in rounds, and the host looks at its byte one round late") {
  for (const float steps : {0, 1, 15, 16, 17, 100, 1000, 1100}) {
    INFO(steps << " steps");
    const RepeatCase each = whileCase(1000, 0, steps);
    const EmulatedGpu gpu;
    const auto player = playerOn(gpu, each.exe);
    for (int play = 0; play < 3; ++play) {
      const std::vector<Tensor> feeds = tensorsOf(each);
      const uint64_t idleBefore = idleWaits();
      CHECK(player->play(feeds).isOk());
      CHECK(idleWaits() == idleBefore);
      checkPlay(*player, each, feeds);
    }
    // The limit is at another address in each iteration of the graph.
    std::vector<Tensor> moved = tensorsOf(each);
    moved[1] = checkPlay(*player, each, moved)[0];
    checkPlay(*player, each, moved);
    // At most two rounds of 64 iterations are void, with two launches each, and one launch before the repeat.
    const int64_t most = 8 * (1 + 2 * std::min<int64_t>(1000, static_cast<int64_t>(steps) + 2 * 64));
    CHECK(gpu->counters().launches <= most);
    CHECK(emulatorFault().empty());
  }
  const RepeatCase unbounded = whileCase(INT64_MAX, 0, 300);
  const EmulatedGpu gpu;
  const auto player = playerOn(gpu, unbounded.exe);
  for (int play = 0; play < 2; ++play)
    checkPlay(*player, unbounded, tensorsOf(unbounded));
}

TEST_CASE("The host waits for no repeat of at most 64 iterations") {
  for (const RepeatCase &each : {scanCase(500, 16, false, CarryPlace::two_slots), whileCase(64, 0, 40)}) {
    INFO(each.name);
    const EmulatedGpu gpu;
    const auto player = playerOn(gpu, each.exe);
    for (int play = 0; play < 3; ++play)
      CHECK(player->play(tensorsOf(each)).isOk());
    CHECK(gpu->counters().waits == 0);
    CHECK(gpu->counters().graphLaunches == 2);
  }
}

/// Three times: v := v + one while v < limit, at most 1000 steps; then limit := limit + v.
RepeatCase whileInRepeat() {
  RepeatCase each = whileCase(1000, 0, 70);
  each.name = "a while in a repeat";
  std::vector<Step> &steps = each.exe.plan.steps;
  each.exe.plan.slots.push_back({SlotKind::arena, each.exe.plan.slots[1].type, each.exe.plan.arenaBytes}); // 7: limit
  each.exe.plan.arenaBytes = each.exe.plan.largestLiveBytes = each.exe.plan.arenaBytes + 64;
  std::get<LaunchStep>(steps[1]).buffers[1] = std::get<LaunchStep>(steps[5]).buffers[1] = 7;
  steps.insert(steps.begin() + 7, launchOf("add", 16, {7, 3}, {7}));
  steps.insert(steps.begin() + 1, {CopyStep{1, 7, {}}, RepeatStep{3, 7}});
  each.fetches = {std::vector<float>(16, 70 * 4)};
  return each;
}

TEST_CASE("A repeat that may end early inside a repeat is queued launch by launch, ahead of the GPU too") {
  const RepeatCase each = whileInRepeat();
  CHECK(verify(each.exe).str() == "ok");
  const EmulatedGpu gpu;
  const auto player = playerOn(gpu, each.exe);
  for (int play = 0; play < 2; ++play) {
    const std::vector<Tensor> feeds = tensorsOf(each);
    const uint64_t idleBefore = idleWaits();
    const int64_t launchesBefore = gpu->counters().launches;
    CHECK(player->play(feeds).isOk());
    CHECK(idleWaits() == idleBefore);
    // At most two rounds of each repeat are void.
    CHECK(gpu->counters().launches - launchesBefore <= 1 + 3 + 2 * (70 + 70 + 140 + 3 * 2 * 64));
    checkPlay(*player, each, feeds);
  }
}

TEST_CASE("A graph has at most 4096 nodes, and more than 65,536 operations are queued one by one") {
  for (const auto &[count, fills, graphs] : {std::tuple(2000, 2, 1), {3000, 3, 3}, {65'536, 1, 17}, {65'537, 1, 1}}) {
    INFO(count << " times " << fills);
    const EmulatedGpu gpu;
    const auto player = playerOn(gpu, fillsExecutable(count, fills));
    for (int play = 0; play < 2; ++play)
      CHECK(player->play({}).valueOrThrow()[0].to_vector<float>() == std::vector<float>(16));
    CHECK(gpu->counters().graphLaunches == graphs);
    CHECK(gpu->counters().copies >= 2 * count * fills);
  }
}

TEST_CASE("An error of the driver in any call of a repeat is the play's, and the next play works") {
  const std::vector<const char *> calls = {"cuLaunchKernel",
                                           "cuMemcpyDtoDAsync_v2",
                                           "cuMemcpyDtoHAsync_v2",
                                           "cuEventRecord",
                                           "cuEventQuery",
                                           "cuEventSynchronize",
                                           "cuMemHostAlloc",
                                           "cuGraphAddKernelNode_v2",
                                           "cuGraphInstantiateWithFlags",
                                           "cuGraphLaunch"};
  for (const RepeatCase &each : {scanCase(50, 16, false, CarryPlace::stack), whileCase(1000, 0, 40), whileInRepeat()})
    for (const int playsBefore : {0, 1, 2})
      for (const char *call : calls)
        for (const uint64_t nth : {1, 2, 40}) {
          INFO(each.name << ", call " << nth << " of " << call << " in play " << playsBefore);
          const EmulatedGpu gpu;
          const auto player = playerOn(gpu, each.exe);
          for (int play = 0; play < playsBefore; ++play)
            checkPlay(*player, each, tensorsOf(each));
          const std::vector<Tensor> feeds = tensorsOf(each);
          const uint64_t callsBefore = callsOf(call);
          failCall(call, nth, 701); // out of resources, for this request only
          const Status status = player->play(feeds).status();
          const bool isMet = callsOf(call) >= callsBefore + nth;
          CHECK(status.isOk() != isMet);
          CHECK((status.isOk() || status.kind() == ErrorKind::device_error));
          failCall(call, 0, 0);
          for (int play = 0; play < 2; ++play)
            checkPlay(*player, each, feeds);
        }
}

TEST_CASE("A GPU that is lost in a repeat ends the play, and each later one, with that error") {
  for (const RepeatCase &each : {scanCase(50, 16, false, CarryPlace::stack), whileCase(1000, 0, 40), whileInRepeat()})
    for (const int playsBefore : {0, 2})
      for (const char *call : {"cuLaunchKernel", "cuGraphLaunch", "cuMemcpyDtoHAsync_v2", "cuEventSynchronize"}) {
        INFO(each.name << ", " << call << " in play " << playsBefore);
        const EmulatedGpu gpu;
        const auto player = playerOn(gpu, each.exe);
        for (int play = 0; play < playsBefore; ++play)
          checkPlay(*player, each, tensorsOf(each));
        const std::vector<Tensor> feeds = tensorsOf(each);
        const uint64_t callsBefore = callsOf(call);
        failCall(call, 1, 719); // a launch failed
        const Status status = player->play(feeds).status();
        if (callsOf(call) == callsBefore) {
          CHECK(status.isOk());
          failCall(call, 0, 0);
          continue;
        }
        CHECK(status.kind() == ErrorKind::device_error);
        CHECK_THAT(status.message(), Catch::Contains("the GPU does no further work for this process"));
        const uint64_t launchesBefore = callsOf("cuLaunchKernel") + callsOf("cuGraphLaunch");
        CHECK_THAT(player->play(feeds).status().message(), Catch::EndsWith(status.message()));
        CHECK(callsOf("cuLaunchKernel") + callsOf("cuGraphLaunch") == launchesBefore);
      }
}
