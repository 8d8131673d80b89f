// Times of the launches of a plan, measured on copies of its variables.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/StepTimes.h"
#include "runtime/communication/ProcessGroup.h"
#include "runtime/devices/CpuDevice.h"
#include "tests/runtime/RepeatPlans.h"
#include "tests/runtime/communication/Threads.h"
#include "tests/runtime/devices/FarDevice.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

std::atomic<int64_t> slowLaunches = 0;

/// Like halve, 2 ms later.
void slowHalve(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, void *scratch) {
  ++slowLaunches;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  halveKernel(buffers, extents, begin, end, scratch);
}

} // namespace

TEST_CASE("the time of a launch is its own, copies and launches that are not due take none, and variables stay") {
  const std::shared_ptr<CpuDevice> device = CpuDevice::create(1).valueOrThrow();
  VariableStore store(device);
  const VariableHandle w = store.create("net/w", Tensor::full(Shape{100}, 3)).valueOrThrow();
  auto kernels = std::make_shared<FunctionLibrary>(
      std::map<std::string, CpuKernelFunction>{{"add", addKernel}, {"halve", slowHalve}});
  bool called = false;
  const auto prepare = [&] {
    called = true;
    return [] { return StatusOr<bool>(true); };
  };
  const std::shared_ptr<Player> player = Player::bind(std::make_shared<const Executable>(testExecutable(100)), kernels,
                                                      device, {{"w", w}}, {{{}, prepare}})
                                             .valueOrThrow();
  const uint64_t version = w->version();
  slowLaunches = 0;
  const StepTimes times = measureSteps(*player).valueOrThrow();
  CHECK(times.plays > 0);
  CHECK(slowLaunches == times.plays + 1); // one is a warm-up
  REQUIRE(times.seconds.size() == 6);
  CHECK(times.seconds[1] >= 0.002);
  CHECK(times.seconds[0] > 0);
  CHECK(times.seconds[0] < times.seconds[1]);
  CHECK(times.seconds[2] == 0);               // a copy
  CHECK(times.seconds[4] < times.seconds[1]); // the feeds are zeros, so `go` is false
  CHECK(times.total >= times.seconds[1]);
  CHECK(w->version() == version);
  CHECK(w->read().valueOrThrow().to_vector<float>() == std::vector<float>(100, 3));
  CHECK(!called);
  CHECK(player->device() == device);
}

TEST_CASE("the time of a launch in a repeat is that of all its iterations, and a recorded play has each of them") {
  const RepeatCase scan = scanCase(5, 16, false, CarryPlace::two_slots);
  auto kernels = std::make_shared<FunctionLibrary>(
      std::map<std::string, CpuKernelFunction>{{"add", addKernel}, {"halve", slowHalve}});
  const std::shared_ptr<Player> player =
      Player::bind(std::make_shared<const Executable>(scan.exe), kernels, CpuDevice::create(1).valueOrThrow(), {})
          .valueOrThrow();
  const StepTimes times = measureSteps(*player).valueOrThrow();
  REQUIRE(times.seconds.size() == 5);
  CHECK(times.seconds[1] == 0); // time of the repeat itself
  CHECK(times.seconds[2] > 0);
  CHECK(times.seconds[3] >= 0.010);
  const PlayRecord record = recordPlay(*player).valueOrThrow();
  REQUIRE(record.launches.size() == 10);
  CHECK((record.launches[8].step == 2 && record.launches[9].step == 3));
}

TEST_CASE("launches of a device that is not the host's are not timed") {
  const auto device = FarDevice::create("far:0");
  VariableStore store(device);
  const VariableHandle w = store.create("net/w", Tensor::full(Shape{8}, 3)).valueOrThrow();
  const std::shared_ptr<Player> player =
      Player::bind(std::make_shared<const Executable>(testExecutable(8)), testKernels(), device, {{"w", w}})
          .valueOrThrow();
  CHECK_THAT(measureSteps(*player).status().message(), Contains("the host does not wait for them"));
}

TEST_CASE("A recorded play has its exchanges with other processes between its launches") {
  auto post = std::make_shared<Post>();
  std::vector<StatusOr<PlayRecord>> records;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      const std::shared_ptr<CpuDevice> device = CpuDevice::create(1).valueOrThrow();
      VariableStore store(device);
      const VariableHandle w = store.create("net/w", Tensor::full(Shape{100}, 3)).valueOrThrow();
      const auto group = std::make_shared<ProcessGroup>(std::make_unique<ThreadCommunicator>(post, rank, 2));
      const std::shared_ptr<Player> player = Player::bind(std::make_shared<const Executable>(sharingExecutable(100)),
                                                          testKernels(), device, {{"w", w}}, {}, group)
                                                 .valueOrThrow();
      auto record = recordPlay(*player);
      const std::lock_guard lock(checking);
      records.push_back(std::move(record));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const StatusOr<PlayRecord> &record : records) {
    INFO(record.status().str());
    REQUIRE(record.isOk());
    REQUIRE(record->collectives.size() == 1);
    REQUIRE(record->launches.size() == 3);
    const PlayRecord::Collective &sum = record->collectives[0];
    CHECK(sum.step == 2);
    CHECK(record->launches[1].end <= sum.started); // of h, whose sum is in flight
    CHECK(sum.started <= sum.begin);
    CHECK(sum.begin <= sum.end);
    CHECK(sum.end <= sum.arrived);
    CHECK(record->launches[2].end <= sum.awaited); // the launch of the update, which does not wait
    CHECK(sum.arrived <= record->total);
  }
}
