// The queue of a GPU: parameters and tables, predicates, scratch, and lists as graphs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/CudaQueue.h"
#include "runtime/plan/GpuAbi.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <numeric>

using namespace halftone;
using test::EmulatedGpu;

namespace {

const std::string key = "k";

/// A part of a launch that adds to integers, with its memory and arrays.
struct Adding {
  DeviceMemory memory;
  int64_t grid, by;
  void *buffer = memory.get();
  Launch launch(const KernelLibrary &library, Condition condition = {}) const {
    return {*library.find(key), &key, grid, std::span(&buffer, 1), std::span(&by, 1), 0, 0, condition};
  }
};

Adding adding(const EmulatedGpu &gpu, int64_t grid, int64_t by) {
  return {gpu.memory(std::vector<int>(static_cast<size_t>(grid) + 1)), grid, by};
}

/// The integers after `times` launches. The last one belongs to no block.
std::vector<int> expected(const Adding &part, int times) {
  std::vector<int> values(static_cast<size_t>(part.grid) + 1, static_cast<int>(part.by) * times);
  values.back() = 0;
  return values;
}

void checkParts(const EmulatedGpu &gpu, const std::vector<Adding> &parts, int times) {
  for (const Adding &part : parts)
    CHECK(gpu.values<int>(part.memory, static_cast<size_t>(part.grid) + 1) == expected(part, times));
}

std::vector<size_t> indices(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t(0));
  return all;
}

} // namespace

TEST_CASE("A launch in parts gives each block its part's addresses, extents and index") {
  const EmulatedGpu gpu;
  const auto library = gpu.load(key, test::addingKernel());
  const auto queue = gpu.queue();
  for (const std::vector<int64_t> &grids :
       {std::vector<int64_t>{5}, {0}, {1, 1}, {0, 3}, {3, 0}, {0, 7, 0, 0, 2, 0}, {2, 5, 1, 40, 3, 3, 9}}) {
    std::vector<Adding> parts;
    for (const int64_t grid : grids)
      parts.push_back(adding(gpu, grid, 10 * grid + 1));
    std::vector<Launch> launches;
    for (const Adding &part : parts)
      launches.push_back(part.launch(*library));
    queue->begin();
    queue->launch(launches);
    queue->launch(launches);
    REQUIRE(queue->finish().isOk());
    checkParts(gpu, parts, 2);
  }
}

TEST_CASE("A kernel with more parameters than a launch takes reads them from its table, also in one part") {
  const EmulatedGpu gpu;
  constexpr int buffers = 600;
  static_assert(!takesParameters(buffers, 1) && takesParameters(495, 0) && !takesParameters(496, 0));
  std::string body = "  cvt.u32.u64 %r0, %in600;\n"; // each operand gets the extent, plus its position
  for (int i = 0; i < buffers; ++i)
    body += fmt::format("  add.u32 %r1, %r0, {};\n  st.global.u32 [%in{}], %r1;\n", i, i);
  const auto library = gpu.load(key, test::gpuKernel("many", buffers, 1, body));
  const DeviceMemory memory = *gpu->allocate(4 * buffers);
  std::vector<void *> addresses;
  for (int i = 0; i < buffers; ++i)
    addresses.push_back(memory.get() + 4 * i);
  const int64_t extent = 1000;
  const auto queue = gpu.queue();
  queue->begin();
  queue->launch({*library->find(key), &key, 1, addresses, std::span(&extent, 1), 0, 0, {}});
  REQUIRE(queue->finish().isOk());
  std::vector<int> values(buffers);
  std::iota(values.begin(), values.end(), 1000);
  CHECK(gpu.values<int>(memory, buffers) == values);
}

TEST_CASE("Blocks leave at once when the launch's predicate does not hold") {
  const EmulatedGpu gpu;
  const auto library = gpu.load(key, test::addingKernel());
  const DeviceMemory flags = gpu.memory(std::vector<uint8_t>{0, 1, 255});
  const auto queue = gpu.queue();
  std::vector<Adding> parts = {adding(gpu, 3, 1), adding(gpu, 2, 100)};
  int runs = 0;
  queue->begin();
  for (const int flag : {0, 1, 2})
    for (const bool negated : {false, true}) {
      const Condition condition{flags.get() + flag, negated};
      const std::vector<Launch> launches = {parts[0].launch(*library, condition), parts[1].launch(*library, condition)};
      queue->launch(launches);
      queue->launch(launches[0]);
      queue->launch(launches[1]);
      runs += (flag != 0) != negated;
    }
  REQUIRE(queue->finish().isOk());
  CHECK(runs == 3);
  checkParts(gpu, parts, 2 * runs);
}

TEST_CASE("Copies and fills under a condition take any size and any alignment") {
  const EmulatedGpu gpu;
  const DeviceMemory flags = gpu.memory(std::vector<uint8_t>{0, 1});
  const auto queue = gpu.queue();
  for (const size_t bytes : {1u, 15u, 16u, 17u, 4096u, 4099u, 70000u})
    for (const size_t shift : {0u, 3u}) {
      std::vector<uint8_t> source(bytes + shift);
      for (size_t i = 0; i < source.size(); ++i)
        source[i] = static_cast<uint8_t>(i % 251 + 1);
      const DeviceMemory from = gpu.memory(source), to = gpu.memory(std::vector<uint8_t>(bytes + shift + 1, 255));
      const std::byte *const yes = flags.get() + 1, *const no = flags.get();
      queue->begin();
      queue->copy(to.get(), from.get() + shift, static_cast<int64_t>(bytes), {yes, false});
      queue->copy(to.get(), from.get(), static_cast<int64_t>(bytes), {no, false});
      queue->fillZero(to.get() + 1, static_cast<int64_t>(bytes) / 2, {no, true});
      queue->fillZero(to.get(), static_cast<int64_t>(bytes), {yes, true});
      REQUIRE(queue->finish().isOk());
      std::vector<uint8_t> wanted(source.begin() + static_cast<int64_t>(shift), source.end());
      std::fill_n(wanted.begin() + (bytes > 1), bytes / 2, uint8_t(0));
      wanted.insert(wanted.end(), shift + 1, 255);
      CHECK(gpu.values<uint8_t>(to, bytes + shift + 1) == wanted);
    }
}

TEST_CASE("Each block has scratch of its own, as many bytes as the launch asks for") {
  const EmulatedGpu gpu;
  // Writes the block index to all of its scratch, then reads the last word back.
  const auto library = gpu.load(key, test::gpuKernel("scratch", 1, 1, R"(
  mov.u64 %d0, 0;
$fill:
  add.s64 %d1, %scratch, %d0;
  st.global.u32 [%d1], %block;
  add.s64 %d0, %d0, 4;
  setp.lt.u64 %p, %d0, %in1;
  @%p bra $fill;
  ld.global.u32 %r0, [%d1];
  mul.wide.u32 %d2, %block, 4;
  add.s64 %d2, %d2, %in0;
  st.global.u32 [%d2], %r0;)"));
  const auto queue = gpu.queue();
  for (const int64_t bytes : {4, 64, 100, 4096}) {
    const DeviceMemory result = gpu.memory(std::vector<int>(33, -1));
    std::vector<void *> buffers = {result.get()};
    queue->begin();
    queue->launch({*library->find(key), &key, 33, buffers, std::span(&bytes, 1), bytes, 0, {}});
    REQUIRE(queue->finish().isOk());
    std::vector<int> wanted(33);
    std::iota(wanted.begin(), wanted.end(), 0);
    CHECK(gpu.values<int>(result, 33) == wanted);
  }
}

TEST_CASE("A launch with more blocks than a GPU takes is an error of its submission alone") {
  const EmulatedGpu gpu;
  const auto library = gpu.load(key, test::addingKernel());
  const auto queue = gpu.queue();
  Adding part = adding(gpu, 2, 1);
  const Launch fits = part.launch(*library);
  Launch large = fits;
  large.grid = int64_t(1) << 31;
  queue->begin();
  queue->launch(large);
  queue->launch(fits); // skipped
  const Status status = queue->finish();
  CHECK(status.kind() == ErrorKind::device_error);
  CHECK(status.message() == "kernel k: a launch exceeds the limit of 2147483647 blocks");
  large.grid = INT64_MAX;
  const std::vector<Launch> sum = {large, large};
  queue->begin();
  queue->launch(sum);
  CHECK(queue->finish().message() == status.message());
  queue->begin();
  queue->launch(fits);
  CHECK(queue->finish().isOk());
  checkParts(gpu, {part}, 1);
}

TEST_CASE("Scratch that does not fit the GPU is an error with its bytes") {
  const EmulatedGpu gpu({{"HALFTONE_EMULATOR_MEMORY", "1000000"}});
  const auto library = gpu.load(key, test::addingKernel());
  Adding part = adding(gpu, 1000, 1);
  Launch launch = part.launch(*library);
  launch.scratchBytes = 1000;
  const auto queue = gpu.queue();
  queue->begin();
  queue->launch(launch);
  const Status status = queue->finish();
  CHECK(status.kind() == ErrorKind::device_error);
  CHECK_THAT(status.message(), Catch::Contains("out of memory: 1024000 bytes requested"));
  launch.grid = 100;
  queue->begin();
  queue->launch(launch);
  CHECK(queue->finish().isOk());
}

TEST_CASE("A list that is played again goes as one graph, whose changed operations alone are changed") {
  for (const char *seed : {"0", "1", "2"}) {
    const EmulatedGpu gpu({{"HALFTONE_EMULATOR_SEED", seed}});
    const auto library = gpu.load(key, test::addingKernel());
    std::vector<Adding> parts = {adding(gpu, 4, 3), adding(gpu, 2, 100), adding(gpu, 2, 7)};
    const DeviceMemory other = gpu.memory(std::vector<int>(5)), copied = gpu.memory(std::vector<int>(5, -1)),
                       flag = gpu.memory(std::vector<uint8_t>{1}), filled = gpu.memory(std::vector<int>(2, 9));
    std::vector<Launch> single = {parts[0].launch(*library)},
                        joined = {parts[1].launch(*library), parts[2].launch(*library)}, none = single;
    none[0].grid = 0;
    std::vector<QueuedOperation> operations = {LaunchParts(single),
                                               LaunchParts(joined),
                                               QueuedCopy{copied.get(), parts[0].memory.get(), 20, {}},
                                               LaunchParts(none),
                                               QueuedCopy{filled.get(), nullptr, 4, {flag.get(), false}},
                                               QueuedCopy{filled.get() + 4, nullptr, 4, {}}};
    const auto queue = gpu.queue();
    auto play = [&](const std::vector<size_t> &changed) {
      queue->begin();
      queue->play(operations, changed);
      const Status status = queue->finish();
      INFO(status.str());
      REQUIRE(status.isOk());
    };
    play(indices(operations.size()));
    CHECK(gpu->counters().graphLaunches == 0);
    play({});
    play({0, 1, 2}); // listed as changed, but with the same addresses
    CHECK(gpu->counters().graphLaunches == 2);
    CHECK(gpu->counters().graphUpdates == 1); // a copy always counts as changed
    CHECK(gpu->counters().launches == 6);
    parts[0].buffer = other.get();
    std::get<QueuedCopy>(operations[2]).from = other.get();
    CHECK(gpu.values<int>(copied, 5) == expected(parts[0], 3));
    parts[2].buffer = filled.get(); // in the table; integers that the fills clear afterwards
    play({0, 1, 2});
    CHECK(gpu->counters().graphLaunches == 3);
    CHECK(gpu->counters().graphUpdates == 3);
    CHECK(gpu.values<int>(parts[0].memory, 5) == expected(parts[0], 3));
    CHECK(gpu.values<int>(other, 5) == expected(parts[0], 1));
    CHECK(gpu.values<int>(copied, 5) == expected(parts[0], 1));
    CHECK(gpu.values<int>(parts[1].memory, 3) == expected(parts[1], 4));
    CHECK(gpu.values<int>(parts[2].memory, 3) == expected(parts[2], 3));
    CHECK(gpu.values<int>(filled, 2) == std::vector<int>{0, 0});
  }
}

TEST_CASE("Neighbouring copies and fills of a list that do not wait for each other are one launch") {
  for (const char *seed : {"0", "1", "2"}) {
    const EmulatedGpu gpu({{"HALFTONE_EMULATOR_SEED", seed}});
    std::vector<uint8_t> start(20000);
    for (size_t i = 0; i < start.size(); ++i)
      start[i] = static_cast<uint8_t>(i % 251 + 1);
    const DeviceMemory from = gpu.memory(start), to = gpu.memory(std::vector<uint8_t>(40000, 0)),
                       flags = gpu.memory(std::vector<uint8_t>{0, 1});
    std::byte *const a = from.get(), *const b = to.get(), *const no = flags.get(), *const yes = no + 1;
    std::vector<QueuedOperation> operations = {
        QueuedCopy{b, a, 1, {}},
        QueuedCopy{b + 16, a + 1, 9000, {yes, false}},
        QueuedCopy{b + 9100, a, 64, {no, false}},
        QueuedCopy{b + 9200, a + 32, 4096, {no, true}},
        QueuedCopy{b + 15000, nullptr, 8, {}},
        QueuedCopy{b + 15008, a, 0, {}},
        QueuedCopy{b + 15016, a + 3, 17, {}},     // a copy of no bytes ends the run of copies
        QueuedCopy{b + 15100, b + 15016, 4, {}}}; // reads what the previous copy wrote
    const auto queue = gpu.queue();
    std::vector<uint8_t> expected(40000);
    const auto put = [&](size_t at, size_t first, size_t bytes) {
      std::copy_n(start.begin() + static_cast<std::ptrdiff_t>(first), bytes,
                  expected.begin() + static_cast<std::ptrdiff_t>(at));
    };
    put(0, 0, 1);
    put(16, 1, 9000);
    put(9200, 32, 4096);
    put(15016, 3, 17);
    put(15100, 3, 4);
    for (int play = 0; play < 3; ++play) {
      const int64_t copies = gpu->counters().copies, updates = gpu->counters().graphUpdates;
      queue->begin();
      if (play == 2) { // an address in the table: no graph node changes
        std::get<QueuedCopy>(operations[0]).from = a + 7;
        put(0, 7, 1);
      }
      queue->play(operations, play == 0   ? indices(operations.size())
                              : play == 1 ? std::vector<size_t>{}
                                          : std::vector<size_t>{0});
      const Status status = queue->finish();
      INFO(status.str());
      REQUIRE(status.isOk());
      CHECK(gpu->counters().copies - copies == 3);
      CHECK(gpu->counters().graphUpdates == updates);
      CHECK(gpu.values<uint8_t>(to, 40000) == expected);
    }
    CHECK(gpu->counters().graphLaunches == 2);
    // With these addresses one copy depends on another, so they are not one run.
    std::get<QueuedCopy>(operations[3]).from = b + 16;
    put(9200, 1, 4096);
    const int64_t copies = gpu->counters().copies;
    queue->begin();
    queue->play(operations, std::vector<size_t>{3});
    REQUIRE(queue->finish().isOk());
    CHECK(gpu->counters().copies - copies == 4);
    CHECK(gpu.values<uint8_t>(to, 40000) == expected);
  }
}

TEST_CASE("Another list, and a list after an error, are read anew") {
  const EmulatedGpu gpu;
  const auto library = gpu.load(key, test::addingKernel());
  Adding part = adding(gpu, 4, 1);
  std::vector<Launch> launch = {part.launch(*library)}, large = launch;
  large[0].grid = int64_t(1) << 40;
  const std::vector<QueuedOperation> first = {LaunchParts(launch)}, second = {LaunchParts(launch), LaunchParts(launch)},
                                     wrong = {LaunchParts(launch), LaunchParts(large)};
  const auto queue = gpu.queue();
  auto play = [&](const std::vector<QueuedOperation> &list) {
    queue->begin();
    queue->play(list, indices(list.size()));
    return queue->finish();
  };
  CHECK(play(first).isOk());
  CHECK(play(second).isOk());
  CHECK(play(second).isOk());
  CHECK(play(wrong).kind() == ErrorKind::device_error); // detected before anything is queued
  CHECK(play(second).isOk());
  CHECK(play(first).isOk());
  checkParts(gpu, {part}, 1 + 2 + 2 + 0 + 2 + 1);
}

TEST_CASE("A list with nothing to do plays as often as asked") {
  const EmulatedGpu gpu;
  const auto library = gpu.load(key, test::addingKernel());
  Launch none = adding(gpu, 4, 1).launch(*library);
  none.grid = 0;
  const std::vector<QueuedOperation> empty, idle = {LaunchParts(&none, 1), QueuedCopy{nullptr, nullptr, 0, {}}};
  const auto queue = gpu.queue();
  for (const auto &list : {empty, idle})
    for (int play = 0; play < 3; ++play) {
      queue->begin();
      queue->play(list, indices(play == 0 ? list.size() : 0));
      CHECK(queue->finish().isOk());
    }
  CHECK(gpu->counters().graphLaunches == 0);
  CHECK(gpu->counters().launches == 0);
}

TEST_CASE("All kernels of a list share one block of scratch") {
  const EmulatedGpu gpu({{"HALFTONE_EMULATOR_MEMORY", "1000000"}});
  const auto library = gpu.load(key, test::countingKernel(true));
  const DeviceMemory marks = gpu.memory(std::vector<int>(1001));
  std::vector<void *> buffers = {marks.get()};
  const int64_t blocks = 1000;
  const Launch launch{*library->find(key), &key, blocks, buffers, std::span(&blocks, 1), 600, 0, {}};
  const std::vector<QueuedOperation> operations(5, LaunchParts(&launch, 1));
  const auto queue = gpu.queue();
  for (int play = 0; play < 3; ++play) {
    queue->begin();
    queue->play(operations, indices(play == 0 ? operations.size() : 0));
    REQUIRE(queue->finish().isOk());
  }
  CHECK(gpu.values<int>(marks, 1) == std::vector<int>{15});
}
