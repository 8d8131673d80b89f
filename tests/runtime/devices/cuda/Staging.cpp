// Uploads through the ring of pinned memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Staging.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include <catch2/catch.hpp>
#include <numeric>

using namespace halftone;
using test::EmulatedGpu;

namespace {

std::vector<uint32_t> numbered(size_t count, uint32_t from) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), from);
  return values;
}

} // namespace

TEST_CASE("The host waits for an upload only when the whole ring is in flight") {
  const EmulatedGpu gpu({}, {.slots = 3, .slotBytes = 4096});
  const DeviceMemory memory = *gpu->allocate(4096);
  auto upload = [&](uint32_t from) {
    const std::vector<uint32_t> values = numbered(1000, from);
    REQUIRE(gpu->upload(memory.get(), std::as_bytes(std::span(values))).isOk());
    return gpu->counters().waits;
  };
  for (uint32_t i = 0; i < 3; ++i)
    CHECK(upload(i) == 0);
  CHECK(upload(3) == 1); // the first slot is reused
  const int64_t waits = upload(4);
  CHECK(waits >= 1);
  CHECK(gpu.values<uint32_t>(memory, 1000) == numbered(1000, 4));
}

TEST_CASE("Small uploads share a slot, and each keeps its bytes") {
  const EmulatedGpu gpu({}, {.slots = 2, .slotBytes = 4096});
  std::vector<DeviceMemory> memories;
  for (uint32_t i = 0; i < 64; ++i) // each takes 64 bytes of the ring
    memories.push_back(gpu.memory(numbered(1 + i % 16, i)));
  CHECK(gpu->counters().waits == 0);
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(gpu.values<uint32_t>(memories[i], 1 + i % 16) == numbered(1 + i % 16, i));
}

TEST_CASE("An upload beyond a slot, and beyond the ring, arrives whole") {
  const EmulatedGpu gpu({}, {.slots = 2, .slotBytes = 4096});
  for (const size_t count : {1024u, 1025u, 3000u, 10007u}) {
    const std::vector<uint32_t> values = numbered(count, 5);
    CHECK(gpu.values<uint32_t>(gpu.memory(values), count) == values);
  }
}

TEST_CASE("A large upload keeps its place among queued work, under each order of the two streams") {
  for (const char *seed : {"0", "1", "2", "3"}) {
    const EmulatedGpu gpu({{"HALFTONE_EMULATOR_SEED", seed}});
    const size_t count = 300000; // above a MiB
    const DeviceMemory memory = *gpu->allocate(4 * count), copy = *gpu->allocate(8 * count);
    const auto queue = gpu.queue();
    for (uint32_t round = 1; round < 3; ++round) {
      const std::vector<uint32_t> values = numbered(count, round);
      REQUIRE(gpu->upload(memory.get(), std::as_bytes(std::span(values))).isOk());
      queue->begin();
      queue->copy(copy.get() + (round - 1) * 4 * count, memory.get(), 4 * count, {});
      REQUIRE(queue->finish().isOk());
    }
    CHECK(gpu->counters().waits == 0);
    std::vector<uint32_t> expected = numbered(count, 1), second = numbered(count, 2);
    expected.insert(expected.end(), second.begin(), second.end());
    CHECK(gpu.values<uint32_t>(copy, 2 * count) == expected);
  }
}

TEST_CASE("The memory that large uploads pass through makes the copy stream wait for no queued work") {
  const EmulatedGpu gpu;
  const size_t count = 300000; // above a MiB
  const DeviceMemory memory = *gpu->allocate(4 * count);
  for (uint32_t round = 0; round < 4; ++round) {
    const std::vector<uint32_t> values = numbered(count, round);
    REQUIRE(gpu->upload(memory.get(), std::as_bytes(std::span(values))).isOk());
  }
  CHECK(test::poolWaits() == 0);
  CHECK(gpu.values<uint32_t>(memory, count) == numbered(count, 3));
}

TEST_CASE("A large upload needs no second memory on a GPU that is nearly full") {
  const EmulatedGpu gpu({{"HALFTONE_EMULATOR_MEMORY", "3000000"}});
  const std::vector<uint32_t> values = numbered(500000, 9);
  CHECK(gpu.values<uint32_t>(gpu.memory(values), 500000) == values);
}

TEST_CASE("An upload for which the ring cannot be waited for changes no upload in flight") {
  const EmulatedGpu gpu({}, {.slots = 2, .slotBytes = 4096});
  std::vector<DeviceMemory> memories;
  for (int i = 0; i < 5; ++i)
    memories.push_back(*gpu->allocate(4096));
  const auto upload = [&](size_t to, size_t count) {
    const std::vector<uint32_t> values = numbered(count, 1000 * static_cast<uint32_t>(to));
    return gpu->upload(memories[to].get(), std::as_bytes(std::span(values)));
  };
  for (size_t i = 0; i < 3; ++i) // two in the first slot, one in the second
    REQUIRE(upload(i, i == 1 ? 250 : 750).isOk());
  test::failCall("cuEventSynchronize", 1, 999);
  const Status status = upload(3, 750);
  REQUIRE_FALSE(status.isOk());
  CHECK(status.message() == "cuda:0: waiting for queued work: unknown error (CUDA_ERROR_UNKNOWN)");
  REQUIRE(upload(4, 250).isOk());
  REQUIRE(upload(3, 750).isOk());
  for (size_t i = 0; i < 5; ++i) {
    const size_t count = i == 1 || i == 4 ? 250 : 750;
    CHECK(gpu.values<uint32_t>(memories[i], count) == numbered(count, 1000 * static_cast<uint32_t>(i)));
  }
}

TEST_CASE("A large upload goes without memory near it when that is out, and reports every other error") {
  const EmulatedGpu gpu;
  const DeviceMemory memory = *gpu->allocate(1200000);
  const std::vector<uint32_t> values = numbered(300000, 3);
  test::failCall("cuMemAllocFromPoolAsync", 1, 2);
  CHECK(gpu->upload(memory.get(), std::as_bytes(std::span(values))).isOk());
  CHECK(gpu.values<uint32_t>(memory, 300000) == values);
  test::failCall("cuMemAllocFromPoolAsync", 1, 999);
  const Status status = gpu->upload(memory.get(), std::as_bytes(std::span(values)));
  REQUIRE_FALSE(status.isOk());
  CHECK(status.message() == "cuda:0: allocating 1200000 bytes: unknown error (CUDA_ERROR_UNKNOWN)");
}
