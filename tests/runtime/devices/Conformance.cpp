// The contract of every device. Each device runs through all tests.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/devices/Candidates.h"
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <span>
#include <thread>
#include <vector>

using namespace halftone;
using test::Candidate;
using test::candidates;

namespace {

void put(const Candidate &c, std::byte *to, std::span<const std::byte> bytes) {
  REQUIRE(c.device->upload(to, bytes).isOk());
}
void put(const Candidate &c, std::byte *to, size_t count, uint8_t value) {
  put(c, to, std::vector(count, std::byte{value}));
}
std::vector<std::byte> get(const Candidate &c, const std::byte *from, size_t count) {
  std::vector<std::byte> bytes(count, std::byte{0x77});
  REQUIRE(c.device->download(bytes, from).isOk());
  return bytes;
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

Launch counting(const Candidate &c, int64_t grid, double cost, Condition condition = {}) {
  static const std::string kernel = "count";
  return {c.count, &kernel, grid, c.countBuffers, c.countExtents, 256, cost, condition};
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
      const auto size = static_cast<size_t>(bytes);
      CHECK(get(c, kept.back().get(), size) == std::vector<std::byte>(size));
      put(c, kept.back().get(), size, 0xff);
      CHECK(get(c, kept.back().get(), size) == std::vector(size, std::byte{0xff}));
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
    put(c, a, 64, 1);
    put(c, b, 64, 2);
    auto queue = queueOf(*c.device, 0);
    for (int repeat = 0; repeat < 2; ++repeat) {
      put(c, flag.get(), 1, 0);
      queue->begin();
      queue->copy(d, a, 64, {flag.get(), false}); // does not run
      queue->copy(d, b, 64, {flag.get(), true});  // runs
      queue->copy(d + 32, a, 32, {});
      queue->copy(flag.get(), a, 1, {});               // the flag is 1 from here on
      queue->fillZero(d, 16, {flag.get(), false});     // runs
      queue->fillZero(d + 48, 16, {flag.get(), true}); // does not
      queue->copy(d, a, 0, {});
      REQUIRE(queue->finish().isOk());
      const std::vector<std::byte> seen = get(c, d, 64);
      CHECK(seen[0] == std::byte{0});
      CHECK(seen[15] == std::byte{0});
      CHECK(seen[16] == std::byte{2});
      CHECK(seen[31] == std::byte{2});
      CHECK(seen[32] == std::byte{1});
      CHECK(seen[63] == std::byte{1});
    }
  }
}

TEST_CASE("every device plays a list of operations as it would play them one by one") {
  for (const Candidate &c : candidates()) {
    INFO(c.name);
    c.takeBlocks();
    DeviceMemory memory = memoryOf(*c.device, 256), flag = memoryOf(*c.device, 1);
    std::byte *a = memory.get(), *b = a + 64, *d = a + 128;
    put(c, a, 64, 1);
    put(c, b, 64, 2);
    const Launch counted = counting(c, 7, 1e4), skipped = counting(c, 5, 1e4, {flag.get(), false});
    std::vector<QueuedOperation> operations = {QueuedCopy{d, a, 64, {}}, LaunchParts(&counted, 1),
                                               QueuedCopy{d + 8, nullptr, 8, {flag.get(), true}},
                                               QueuedCopy{d + 16, b, 8, {flag.get(), false}}, LaunchParts(&skipped, 1)};
    auto queue = queueOf(*c.device, 256);
    const std::vector<size_t> all = {0, 1, 2, 3, 4}, first = {0}, none = {};
    for (const int play : {0, 1, 2}) { // the third play has another address
      const bool other = play == 2;
      const uint8_t from = other ? 2 : 1;
      if (other)
        std::get<QueuedCopy>(operations[0]).from = b;
      const int64_t launches = c.device->counters().launches;
      queue->begin();
      queue->play(operations, play == 0 ? all : play == 1 ? none : first);
      REQUIRE(queue->finish().isOk());
      const std::vector<std::byte> seen = get(c, d, 64);
      CHECK(seen[7] == std::byte{from});
      CHECK(seen[8] == std::byte{0});
      CHECK(seen[15] == std::byte{0});
      CHECK(seen[16] == std::byte{from});
      CHECK(c.takeBlocks() == 7);
      CHECK(c.device->counters().launches > launches);
    }
  }
}

TEST_CASE("every device orders uploads and downloads with its queues") {
  for (const Candidate &c : candidates()) {
    INFO(c.name);
    DeviceMemory memory = memoryOf(*c.device, 128);
    std::byte *from = memory.get(), *to = from + 64;
    auto queue = queueOf(*c.device, 0);
    const DeviceCounters before = c.device->counters();
    for (uint8_t round = 1; round < 4; ++round) {
      std::vector<std::byte> source(64, std::byte{round});
      put(c, from, source);
      std::ranges::fill(source, std::byte{99}); // upload() has read the source before it returned
      queue->begin();
      queue->copy(to, from, 64, {});
      REQUIRE(queue->finish().isOk());
      put(c, from, 64, 50); // after the copy was queued
      CHECK(get(c, to, 64) == std::vector(64, std::byte{round}));
      CHECK(get(c, from, 1).front() == std::byte{50});
      CHECK(c.device->hasFinished(c.device->submission()));
    }
    const DeviceCounters after = c.device->counters();
    CHECK(after.uploads - before.uploads == 6);
    CHECK(after.uploadedBytes - before.uploadedBytes == 6 * 64);
    CHECK(after.downloads - before.downloads == 6);
    CHECK(after.downloadedBytes - before.downloadedBytes == 3 * 65);
    if (c.device->isHost()) // another device may have finished before the host checks
      CHECK(after.waits == 0);
  }
}

TEST_CASE("every device keeps memory for the work that was queued with it") {
  for (const Candidate &c : candidates()) {
    INFO(c.name);
    DeviceMemory result = memoryOf(*c.device, 64);
    auto queue = queueOf(*c.device, 0);
    for (uint8_t round = 1; round < 9; ++round) {
      DeviceMemory passing = memoryOf(*c.device, 64);
      put(c, passing.get(), 64, round);
      queue->begin();
      queue->copy(result.get(), passing.get(), 64, {});
      REQUIRE(queue->finish().isOk());
      passing.reset();
      put(c, memoryOf(*c.device, 64).get(), 64, 77); // may get the same address
      if (round % 4 == 0)
        CHECK(get(c, result.get(), 64) == std::vector(64, std::byte{round}));
    }
  }
}

TEST_CASE("every device runs each block of a launch once, when its condition holds") {
  for (const Candidate &c : candidates()) {
    INFO(c.name);
    c.takeBlocks();
    DeviceMemory flags = memoryOf(*c.device, 2);
    put(c, flags.get() + 1, 1, 255);
    const std::byte *no = flags.get(), *yes = flags.get() + 1;
    auto queue = queueOf(*c.device, 256);
    for (double cost : {0.0, 1e4, 1e9})
      for (int64_t grid : {1, 2, 3, 8, 29, 1000, 12345}) {
        queue->begin();
        queue->launch(counting(c, grid, cost));
        queue->launch(counting(c, grid, cost, {yes, false}));
        queue->launch(counting(c, grid, cost, {no, true}));
        queue->launch(counting(c, grid, cost, {yes, true}));
        queue->launch(counting(c, grid, cost, {no, false}));
        REQUIRE(queue->finish().isOk());
        CHECK(c.takeBlocks() == 3 * grid);
      }
    queue->begin();
    queue->launch(counting(c, 0, 1e9));
    REQUIRE(queue->finish().isOk());
    CHECK(c.takeBlocks() == 0);
    CHECK(c.scratchFaults() == 0);
  }
}

TEST_CASE("every device runs the blocks of all parts of a launch") {
  const std::string kernel = "count each";
  const std::vector<std::vector<int64_t>> grids = {{1, 1}, {0, 5}, {3, 0, 0, 4}, {100, 1, 7, 0}, {2, 2, 2, 2, 2, 999}};
  for (const Candidate &c : candidates())
    for (const auto &parts : grids)
      for (double cost : {0.0, 1e3, 1e9}) {
        INFO(c.name);
        std::vector<DeviceMemory> counters;
        std::vector<void *> buffers;
        for (int64_t grid : parts) {
          counters.push_back(memoryOf(*c.device, (grid + 1) * static_cast<int64_t>(sizeof(int))));
          buffers.push_back(counters.back().get());
        }
        std::vector<Launch> launches;
        for (size_t i = 0; i < parts.size(); ++i)
          launches.push_back(
              {c.countEach, &kernel, parts[i], std::span(&buffers[i], 1), std::span(&parts[i], 1), 0, cost, {}});
        auto queue = queueOf(*c.device, 0);
        queue->begin();
        queue->launch(launches);
        DeviceMemory no = memoryOf(*c.device, 1);
        for (Launch &launch : launches)
          launch.condition = {no.get(), false};
        queue->launch(launches);
        REQUIRE(queue->finish().isOk());
        for (size_t i = 0; i < parts.size(); ++i) {
          std::vector<int> counted(static_cast<size_t>(parts[i]) + 1), expected(counted.size(), c.computes);
          expected.back() = 0;
          REQUIRE(c.device->download(std::as_writable_bytes(std::span(counted)), counters[i].get()).isOk());
          CHECK(counted == expected);
        }
        if (!c.computes)
          c.takeBlocks();
      }
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
            queue->launch(counting(c, 20, 1e6));
          failures += !queue->finish().isOk();
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(failures == 0);
    CHECK(c.takeBlocks() == 4 * 50 * 5 * 20);
    CHECK(c.scratchFaults() == 0);
  }
}
