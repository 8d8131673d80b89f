// What every device must do; each device runs through all of it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/NullDevice.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <thread>

using namespace halftone;

namespace {

/// A device, and how many blocks it has run or would have run since the last call.
struct Candidate {
  std::string name;
  std::shared_ptr<DeviceRuntime> device;
  std::function<int64_t()> takeBlocks;
};

std::atomic<int64_t> blocksRun{0}, misalignedScratch{0};

void countBlocks(void *const *, const int64_t *, int64_t begin, int64_t end, void *scratch) {
  misalignedScratch += reinterpret_cast<uintptr_t>(scratch) % bufferAlignment != 0;
  std::memset(scratch, 0x5a, 256);
  blocksRun += end - begin;
}

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (int threads : {1, 2, 3, 7}) {
    StatusOr<std::shared_ptr<CpuDevice>> cpu = CpuDevice::create(threads);
    REQUIRE(cpu.isOk());
    all.push_back({"cpu with " + std::to_string(threads) + " threads", *cpu, [] { return blocksRun.exchange(0); }});
  }
  auto null = std::make_shared<NullDevice>();
  all.push_back({"null", null, [null] {
                   int64_t blocks = 0;
                   for (const NullDevice::Record &record : null->takeRecords())
                     blocks += record.grid;
                   return blocks;
                 }});
  return all;
}

DeviceMemory memoryOf(DeviceRuntime &device, int64_t bytes) {
  StatusOr<DeviceMemory> memory = device.allocate(bytes);
  REQUIRE(memory.isOk());
  return *memory;
}

std::unique_ptr<DeviceQueue> queueOf(DeviceRuntime &device, int64_t scratchBytes) {
  StatusOr<std::unique_ptr<DeviceQueue>> queue = device.makeQueue(scratchBytes);
  REQUIRE(queue.isOk());
  return *std::move(queue);
}

Launch counting(int64_t grid, double cost, Condition condition = {}) {
  static const std::string kernel = "count";
  static const int64_t extents[] = {3, 4};
  return {countBlocks, &kernel, grid, {}, extents, 256, cost, condition};
}

} // namespace

TEST_CASE("every device gives aligned, zeroed memory or an error") {
  for (const Candidate &c : candidates()) {
    INFO(c.name);
    CHECK(!c.device->name().empty());
    std::vector<DeviceMemory> kept;
    for (int64_t bytes : {0, 1, 63, 64, 65, 4096, 100000}) {
      kept.push_back(memoryOf(*c.device, bytes));
      CHECK(kept.back() != nullptr);
      CHECK(reinterpret_cast<uintptr_t>(kept.back().get()) % bufferAlignment == 0);
      CHECK(std::all_of(kept.back().get(), kept.back().get() + bytes, [](std::byte b) { return b == std::byte{0}; }));
      std::memset(kept.back().get(), 0xff, bytes);
    }
    for (int64_t bytes : {int64_t(-1), INT64_MIN, INT64_MAX, int64_t(1) << 60}) {
      Status status = c.device->allocate(bytes).status();
      REQUIRE(!status.isOk());
      CHECK(status.kind() == ErrorKind::device_error);
      CHECK_THAT(status.message(), Catch::Contains(std::to_string(bytes)));
    }
    CHECK(c.device->makeQueue(-1).status().kind() == ErrorKind::device_error);
  }
}

TEST_CASE("every device copies and fills in order, as conditions say") {
  for (const Candidate &c : candidates()) {
    INFO(c.name);
    DeviceMemory memory = memoryOf(*c.device, 256), flag = memoryOf(*c.device, 1);
    std::byte *a = memory.get(), *b = a + 64, *d = a + 128;
    std::memset(a, 1, 64);
    std::memset(b, 2, 64);
    auto queue = queueOf(*c.device, 0);
    for (int repeat = 0; repeat < 2; ++repeat) {
      *flag = std::byte{0};
      queue->begin();
      queue->copy(d, a, 64, {flag.get(), false});     // does not run
      queue->copy(d, b, 64, {flag.get(), true});      // runs
      queue->copy(d + 32, a, 32, {});
      queue->copy(flag.get(), a, 1, {});              // from here on the flag is 1
      queue->fillZero(d, 16, {flag.get(), false});    // runs
      queue->fillZero(d + 48, 16, {flag.get(), true}); // does not
      queue->copy(d, a, 0, {});
      REQUIRE(queue->finish().isOk());
      CHECK(d[0] == std::byte{0});
      CHECK(d[15] == std::byte{0});
      CHECK(d[16] == std::byte{2});
      CHECK(d[31] == std::byte{2});
      CHECK(d[32] == std::byte{1});
      CHECK(d[63] == std::byte{1});
    }
  }
}

TEST_CASE("every device runs each block of a launch once, when its condition holds") {
  for (const Candidate &c : candidates()) {
    INFO(c.name);
    c.takeBlocks();
    DeviceMemory flags = memoryOf(*c.device, 2);
    flags.get()[1] = std::byte{255};
    const std::byte *no = flags.get(), *yes = flags.get() + 1;
    auto queue = queueOf(*c.device, 256);
    for (double cost : {0.0, 1e4, 1e9})
      for (int64_t grid : {1, 2, 3, 8, 29, 1000, 12345}) {
        queue->begin();
        queue->launch(counting(grid, cost));
        queue->launch(counting(grid, cost, {yes, false}));
        queue->launch(counting(grid, cost, {no, true}));
        queue->launch(counting(grid, cost, {yes, true}));
        queue->launch(counting(grid, cost, {no, false}));
        REQUIRE(queue->finish().isOk());
        CHECK(c.takeBlocks() == 3 * grid);
      }
    queue->begin();
    queue->launch(counting(0, 1e9));
    REQUIRE(queue->finish().isOk());
    CHECK(c.takeBlocks() == 0);
    CHECK(misalignedScratch == 0);
  }
}

namespace {
std::atomic<int64_t> foreignScratch{0};

/// Counts in buffers[0], one atomic counter a block; extents[0] is how many there are. Leaves its part's mark in the scratch.
void countEachBlock(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, void *scratch) {
  auto &mark = *static_cast<const int64_t **>(scratch);
  foreignScratch += mark && mark != extents;
  mark = extents;
  auto *counters = static_cast<std::atomic<int> *>(buffers[0]);
  for (int64_t block = begin; block < end; ++block)
    counters[block < extents[0] ? block : extents[0]] += 1;
}
} // namespace

TEST_CASE("every device runs the blocks of all parts of a launch") {
  const std::string kernel = "count each";
  const std::vector<std::vector<int64_t>> grids = {{1, 1}, {0, 5}, {3, 0, 0, 4}, {100, 1, 7, 0}, {2, 2, 2, 2, 2, 999}};
  for (const Candidate &c : candidates())
    for (const auto &parts : grids)
      for (double cost : {0.0, 1e3, 1e9}) {
        INFO(c.name);
        const bool computes = c.name != "null";
        std::vector<std::vector<std::atomic<int>>> counters;
        for (int64_t grid : parts)
          counters.emplace_back(grid + 1); // the last is for blocks that are none
        std::vector<void *> buffers;
        for (auto &list : counters)
          buffers.push_back(list.data());
        std::vector<Launch> launches;
        for (size_t i = 0; i < parts.size(); ++i)
          launches.push_back({countEachBlock, &kernel, parts[i], std::span(&buffers[i], 1), std::span(&parts[i], 1), 0, cost, {}});
        auto queue = queueOf(*c.device, 0);
        queue->begin();
        queue->launch(launches);
        DeviceMemory no = memoryOf(*c.device, 1);
        for (Launch &launch : launches)
          launch.condition = {no.get(), false};
        queue->launch(launches);
        REQUIRE(queue->finish().isOk());
        for (size_t i = 0; i < parts.size(); ++i)
          for (int64_t block = 0; block <= parts[i]; ++block)
            CHECK(counters[i][block] == (computes && block < parts[i] ? 1 : 0));
        if (!computes)
          c.takeBlocks();
      }
  CHECK(foreignScratch == 0);
}

TEST_CASE("every device serves several queues at once") {
  for (const Candidate &c : candidates()) {
    INFO(c.name);
    c.takeBlocks();
    std::vector<std::unique_ptr<DeviceQueue>> queues;
    for (int i = 0; i < 4; ++i)
      queues.push_back(queueOf(*c.device, 256 * (i + 1)));
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (auto &queue : queues)
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          queue->begin();
          for (int i = 0; i < 5; ++i)
            queue->launch(counting(20, 1e6));
          failures += !queue->finish().isOk();
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(failures == 0);
    CHECK(c.takeBlocks() == 4 * 50 * 5 * 20);
    CHECK(misalignedScratch == 0);
  }
}
