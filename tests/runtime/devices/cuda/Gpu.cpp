// Errors of queued work persist and name the kernel. Errors of one request leave the GPU and its memory unchanged.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Gpu.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <catch2/catch.hpp>

using namespace halftone;
using test::EmulatedGpu;

namespace {

const std::string good = "good_01", bad = "bad_02", site = "net/dense";

/// Launches a kernel that writes, and then a kernel that reads out of bounds.
struct Failing {
  explicit Failing(const EmulatedGpu &gpu)
      : library(gpu.load("add", test::addingKernel())), memory(gpu.memory(std::vector<int>(4))), queue(gpu.queue()) {}
  std::shared_ptr<const KernelLibrary> library;
  DeviceMemory memory;
  std::unique_ptr<DeviceQueue> queue;

  Status play() const {
    std::vector<void *> inside = {memory.get()}, outside = {memory.get() + 16};
    const int64_t one = 1;
    queue->begin();
    queue->launch({*library->find("add"), &good, 4, inside, std::span(&one, 1), 0, 0, {}, &site});
    queue->launch({*library->find("add"), &bad, 1, outside, std::span(&one, 1), 0, 0, {}, &site});
    queue->launch({*library->find("add"), &good, 4, inside, std::span(&one, 1), 0, 0, {}, nullptr});
    return queue->finish();
  }
};

} // namespace

TEST_CASE("An error of queued work arrives with the next request that waits, and stays") {
  const EmulatedGpu gpu;
  const Failing failing(gpu);
  CHECK(failing.play().isOk());
  std::vector<std::byte> bytes(16);
  const Status status = gpu->download(bytes, failing.memory.get());
  CHECK(status.kind() == ErrorKind::device_error);
  CHECK_THAT(status.message(),
             Catch::StartsWith("cuda:0: a download: an illegal memory access was encountered "
                               "(CUDA_ERROR_ILLEGAL_ADDRESS); the kernel queued last is good_01; with "
                               "HALFTONE_CUDA_SYNC=1"));
  CHECK(gpu->allocate(10).status().message() == status.message());
  CHECK(gpu->upload(failing.memory.get(), bytes).message() == status.message());
  CHECK(gpu->download(bytes, failing.memory.get()).message() == status.message());
  CHECK(gpu->makeQueue(0).status().message() == status.message());
  CHECK(gpu->load({{"add", test::addingKernel()}}).status().message() == status.message());
  CHECK(failing.play().message() == status.message());
  CHECK(gpu->hasFinished(gpu->submission())); // each waiter reads the error
}

TEST_CASE("With HALFTONE_CUDA_SYNC=1 the host waits for each launch, and the error names the kernel and its site") {
  const EmulatedGpu gpu({{"HALFTONE_CUDA_SYNC", "1"}});
  const Failing failing(gpu);
  const Status status = failing.play();
  CHECK(status.kind() == ErrorKind::device_error);
  CHECK(status.message() == "cuda:0: kernel bad_02 of net/dense: an illegal memory access was encountered "
                            "(CUDA_ERROR_ILLEGAL_ADDRESS); the GPU does no further work for this process");
  CHECK(gpu->counters().launches == 2); // work after the error was skipped
  CHECK(gpu->counters().waits == 2);
}

TEST_CASE("After an error a GPU that is opened anew works") {
  {
    const EmulatedGpu gpu;
    const Failing failing(gpu);
    CHECK(failing.play().isOk());
    std::vector<std::byte> bytes(16);
    CHECK_FALSE(gpu->download(bytes, failing.memory.get()).isOk());
    CHECK_THAT(test::emulatorFault(), Catch::Contains("the nearest allocation below has 16 bytes"));
  }
  const EmulatedGpu gpu;
  const std::vector<int> values = {1, 2, 3};
  CHECK(gpu.values<int>(gpu.memory(values), 3) == values);
}

TEST_CASE("Memory that was freed before its upload ran is left alone") {
  const EmulatedGpu gpu;
  for (int round = 0; round < 3; ++round)
    (void)gpu.memory(std::vector<int>(1000, round));
  const std::vector<int> values = {1, 2, 3};
  CHECK(gpu.values<int>(gpu.memory(values), 3) == values);
  CHECK(test::emulatorFault().empty());
}

TEST_CASE("A submission whose end the driver does not mark has run when its error is returned, and has no number") {
  const EmulatedGpu gpu;
  const auto library = gpu.load("add", test::addingKernel());
  const DeviceMemory memory = gpu.memory(std::vector<int>(4));
  const auto queue = gpu.queue();
  std::vector<void *> buffers = {memory.get()};
  const int64_t seven = 7;
  const auto play = [&] {
    queue->begin();
    queue->launch({*library->find("add"), &good, 4, buffers, std::span(&seven, 1), 0, 0, {}, &site});
    return queue->finish();
  };
  REQUIRE(play().isOk());
  const uint64_t last = gpu->submission();
  test::failCall("cuEventRecord", 1, 999);
  const Status status = play();
  REQUIRE_FALSE(status.isOk());
  CHECK(status.message() == "cuda:0: ending a submission: unknown error (CUDA_ERROR_UNKNOWN)");
  CHECK(gpu->submission() == last);
  const int64_t waits = gpu->counters().waits;
  CHECK(gpu.values<int>(memory, 4) == std::vector<int>(4, 14));
  CHECK(gpu->counters().waits == waits); // all work had completed
  REQUIRE(play().isOk());
  CHECK(gpu->submission() == last + 1);
}

TEST_CASE("A download that fails has ended when its error is returned") {
  const EmulatedGpu gpu;
  const DeviceMemory memory = gpu.memory(std::vector<int>(4));
  std::vector<std::byte> bytes(16);
  for (const char *call : {"cuEventRecord", "cuEventSynchronize"}) {
    const uint64_t before = test::callsOf("cuStreamSynchronize");
    test::failCall(call, 1, 999);
    CHECK_FALSE(gpu->download(bytes, memory.get()).isOk());
    CHECK(test::callsOf("cuStreamSynchronize") == before + 1);
  }
  CHECK(gpu.values<int>(memory, 4) == std::vector<int>(4));
}

TEST_CASE("Memory that the driver does not free is freed when memory runs out") {
  for (const char *call : {"cuMemFreeAsync", "cuCtxPushCurrent_v2"}) {
    const EmulatedGpu gpu({{"HALFTONE_EMULATOR_MEMORY", "1000000"}});
    DeviceMemory memory = *gpu->allocate(600000);
    test::failCall(call, 1, 999);
    memory.reset();
    CHECK(gpu->allocate(600000).isOk());
  }
}
