// The host devices, and the far device.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/devices/Candidates.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/NullDevice.h"
#include "tests/runtime/devices/FarDevice.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>

namespace halftone::test {
namespace {

std::atomic<int64_t> blocksRun{0}, wrongScratch{0};

void countBlocks(void *const *, const int64_t *, int64_t begin, int64_t end, void *scratch) {
  wrongScratch += reinterpret_cast<uintptr_t>(scratch) % bufferAlignment != 0;
  std::memset(scratch, 0x5a, 256);
  blocksRun += end - begin;
}

/// Marks the scratch with its part.
void countEachBlock(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, void *scratch) {
  auto &mark = *static_cast<const int64_t **>(scratch);
  wrongScratch += mark && mark != extents;
  mark = extents;
  auto *counters = static_cast<std::atomic<int> *>(buffers[0]);
  for (int64_t block = begin; block < end; ++block)
    counters[block < extents[0] ? block : extents[0]] += 1;
}

Candidate candidate(std::string name, std::shared_ptr<DeviceRuntime> device, std::function<int64_t()> takeBlocks) {
  Candidate made{std::move(name), std::move(device), std::move(takeBlocks), countBlocks, {}, {3, 4}, countEachBlock};
  made.scratchFaults = [] { return wrongScratch.load(); };
  return made;
}

} // namespace

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (int threads : {1, 2, 3, 7}) {
    StatusOr<std::shared_ptr<CpuDevice>> cpu = CpuDevice::create(threads);
    REQUIRE(cpu.isOk());
    all.push_back(
        candidate("cpu with " + std::to_string(threads) + " threads", *cpu, [] { return blocksRun.exchange(0); }));
  }
  auto far = FarDevice::create("far");
  all.push_back(candidate("far", far, [far] {
    far->wait();
    return blocksRun.exchange(0);
  }));
  auto null = std::make_shared<NullDevice>();
  all.push_back(candidate("null", null, [null] {
    int64_t blocks = 0;
    for (const NullDevice::Record &record : null->takeRecords())
      blocks += record.grid;
    return blocks;
  }));
  all.back().computes = false;
  return all;
}

} // namespace halftone::test
