// Playing plans with repeats: carries, slices, inner repeats, repeats that end early.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/PlanOperations.h"
#include "runtime/Player.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/NullDevice.h"
#include "tests/runtime/RepeatPlans.h"
#include "tests/runtime/devices/FarDevice.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

namespace {

std::shared_ptr<Player> playerOf(const Executable &exe, const std::shared_ptr<DeviceRuntime> &device) {
  return Player::bind(std::make_shared<const Executable>(exe), repeatKernels(), device, {}).valueOrThrow();
}

void checkPlays(Player &player, const RepeatCase &each) {
  for (int play = 0; play < 3; ++play) {
    const std::vector<Tensor> fetched = player.play(tensorsOf(each)).valueOrThrow();
    REQUIRE(fetched.size() == each.fetches.size());
    for (size_t i = 0; i < fetched.size(); ++i)
      CHECK(fetched[i].to_vector<float>() == each.fetches[i]);
  }
}

} // namespace

TEST_CASE("A repeat gives what its steps give one after another, with any number of threads") {
  for (const int threads : {1, 2, 3, 7}) {
    const auto device = CpuDevice::create(threads).valueOrThrow();
    for (const RepeatCase &each : repeatCases()) {
      INFO(each.name << " with " << threads << " threads\n" << print(each.exe));
      checkPlays(*playerOf(each.exe, device), each);
    }
  }
}

TEST_CASE("A repeat on a device whose memory is not the host's gives the same") {
  const auto device = FarDevice::create("far:0");
  for (const RepeatCase &each : repeatCases()) {
    INFO(each.name);
    checkPlays(*playerOf(each.exe, device), each);
  }
}

TEST_CASE("A repeat reads the slices of a feed that the player copies, and writes those of each play's fetches") {
  const RepeatCase each = scanCase(5, 16, true, CarryPlace::stack);
  const std::vector<Tensor> feeds = tensorsOf(each);
  const auto player = playerOf(each.exe, CpuDevice::create(1).valueOrThrow());
  std::vector<float> memory(5 * 16 + 16);
  std::vector<Tensor> kept;
  for (size_t offset = 0; offset < 16; ++offset) {
    const std::span<float> part(memory.data() + offset, 5 * 16);
    std::ranges::copy(each.feeds[0], part.begin());
    kept.push_back(player->play(std::vector{Tensor::borrow(part, {5, 16}), feeds[1]}).valueOrThrow()[1]);
  }
  for (const Tensor &y : kept)
    CHECK(y.to_vector<float>() == each.fetches[1]);
}

TEST_CASE("A device gets each launch of a repeat with the addresses of its iteration") {
  const RepeatCase each = scanCase(6, 16, true, CarryPlace::two_slots);
  const std::vector<Tensor> feeds = tensorsOf(each);
  const auto device = std::make_shared<NullDevice>();
  const auto player = playerOf(each.exe, device);
  for (int play = 0; play < 2; ++play) {
    const std::vector<Tensor> fetched = player->play(feeds).valueOrThrow();
    const std::vector<NullDevice::Record> records = device->takeRecords();
    REQUIRE(records.size() == 12);
    const auto *x = reinterpret_cast<const std::byte *>(feeds[0].span<float>().data());
    const auto *y = reinterpret_cast<const std::byte *>(fetched[1].span<float>().data());
    const auto *first = static_cast<const std::byte *>(records[0].buffers[0]);
    for (int64_t step = 0; step < 6; ++step) {
      const NullDevice::Record &add = records[static_cast<size_t>(2 * step)],
                               &halve = records[static_cast<size_t>(2 * step + 1)];
      CHECK(add.buffers[0] == first + step % 2 * 64);
      CHECK(add.buffers[1] == x + (5 - step) * 64);
      CHECK(add.buffers[2] == first + (step + 1) % 2 * 64);
      CHECK(halve.buffers[1] == y + (5 - step) * 64);
    }
  }
}

TEST_CASE("A launch in parts moves with all its parts, and a predicate in a repeat with its slot") {
  // x[t] + x[t] -> y[t] and x[t] + h -> z[t], if go[t].
  constexpr int64_t count = 5, n = 16;
  const TensorType row{float32, {n}}, rows{float32, {count, n}}, flag{DType::bool_, {}}, flags{DType::bool_, {count}};
  Executable exe = emptyExecutable();
  exe.signature.feeds = {{"x", rows}, {"h", row}, {"go", flags}};
  exe.signature.fetches = {{"y", rows}, {"z", rows}};
  exe.plan.slots = {{SlotKind::feed, row, 0, 0, {{64}}},
                    {SlotKind::feed, row, 1},
                    {SlotKind::feed, flag, 2, 0, {{1}}},
                    {SlotKind::fetch, row, 0, 0, {{64}}},
                    {SlotKind::fetch, row, 1, 0, {{64}}},
                    {SlotKind::fetch, rows, 0},
                    {SlotKind::fetch, rows, 1}};
  LaunchStep one = launchOf("add", n, {0, 0}, {3}), other = launchOf("add", n, {0, 1}, {4});
  one.predicate = other.predicate = Predicate{2, false};
  other.joined = true;
  exe.plan.steps = {RepeatStep{count, 4}, CopyStep{-1, 3, {}}, CopyStep{-1, 4, {}}, one, other};
  INFO(verify(exe).str());
  const Tensor x(floatsOf(count * n, 1), Shape{count, n}), h(floatsOf(n, 2), Shape{n});
  const Tensor go(std::vector<bool>{true, false, false, true, true}, Shape{count});
  const auto fetched = playerOf(exe, CpuDevice::create(2).valueOrThrow())->play(std::vector{x, h, go}).valueOrThrow();
  for (int64_t i = 0; i < count * n; ++i) {
    const bool goes = i / n == 0 || i / n >= 3;
    const auto at = static_cast<size_t>(i);
    CHECK(fetched[0].span<float>()[at] == (goes ? 2 * x.span<float>()[at] : 0));
    CHECK(fetched[1].span<float>()[at] ==
          (goes ? x.span<float>()[at] + h.span<float>()[static_cast<size_t>(i % n)] : 0));
  }
  CHECK(exe.plan.launches() == count);
}
