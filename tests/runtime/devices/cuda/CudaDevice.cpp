// An emulated GPU as a device: the conformance suite, out of memory, and persistent errors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/CudaDevice.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/GpuCandidate.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace halftone;
using test::EmulatedGpu;

namespace halftone::test {

/// The only GPU of the emulated driver, once per seed, which determines the order of its warps and blocks.
std::vector<Candidate> candidates() {
  const auto emulated = std::make_shared<EmulatedGpu>(Environment{{"HALFTONE_EMULATOR_SEED", "1"}});
  return {gpuCandidate(emulated->device, emulated)};
}

} // namespace halftone::test

TEST_CASE("A GPU is described by its model, its compute capability and its memory") {
  const EmulatedGpu gpu;
  CHECK(gpu->name() == "cuda:0");
  CHECK(gpu->description() == "Halftone emulated GPU sm_80, sm_80, 4 GiB");
  CHECK(gpu->target() == "sm_80");
  CHECK_FALSE(gpu->isHost());
}

TEST_CASE("When a GPU's memory runs out the error has the bytes asked for, the free ones and all") {
  const EmulatedGpu gpu({{"HALFTONE_EMULATOR_MEMORY", "1000000"}});
  const DeviceMemory kept = gpu.memory(std::vector<char>(600000, 1));
  const Status status = gpu->allocate(500000).status();
  CHECK(status.kind() == ErrorKind::device_error);
  CHECK(status.message() == "cuda:0: out of memory: 500000 bytes requested, 400000 of 1000000 free");
  CHECK(gpu.values<char>(kept, 600000) == std::vector<char>(600000, 1)); // no memory is lost
  CHECK(gpu->allocate(400000).isOk());
}

TEST_CASE("Memory that queued work still holds is given again once the work has run") {
  const EmulatedGpu gpu({{"HALFTONE_EMULATOR_MEMORY", "1000000"}});
  for (int round = 0; round < 5; ++round) // each block is freed before its zeros are written
    REQUIRE(gpu->allocate(900000).isOk());
}

TEST_CASE("Uploads and launches go on without a wait") {
  const EmulatedGpu gpu;
  const auto library = gpu.load("add", test::addingKernel());
  const DeviceMemory sums = gpu.memory(std::vector<int>{0, 1000});
  const auto queue = gpu.queue();
  const std::string key = "add";
  const int64_t one = 1;
  std::vector<void *> buffers = {sums.get()};
  const Launch launch{*library->find("add"), &key, 2, buffers, std::span(&one, 1), 0, 0, {}};
  for (int round = 0; round < 100; ++round) {
    const std::vector<char> batch(5000, 'x');
    const DeviceMemory feed = *gpu->allocate(5000);
    REQUIRE(gpu->upload(feed.get(), std::as_bytes(std::span(batch))).isOk());
    queue->begin();
    queue->launch(launch);
    REQUIRE(queue->finish().isOk());
  }
  CHECK(gpu->counters().waits == 0);
  CHECK(gpu->counters().launches == 100);
  CHECK(gpu->counters().uploadedBytes == 100 * 5000 + 8);
  CHECK_FALSE(gpu->hasFinished(gpu->submission() + 1));
  CHECK(gpu.values<int>(sums, 2) == std::vector<int>{100, 1100});
  CHECK(gpu->counters().waits == 1);
  CHECK(gpu->hasFinished(gpu->submission()));
}

TEST_CASE("A submission finishes while the host asks for it, without a wait") {
  const EmulatedGpu gpu;
  const DeviceMemory memory = gpu.memory(std::vector<char>(100));
  const auto queue = gpu.queue();
  queue->begin();
  queue->fillZero(memory.get(), 100, {});
  REQUIRE(queue->finish().isOk());
  const uint64_t submission = gpu->submission();
  int asked = 0;
  while (!gpu->hasFinished(submission) && asked < 1000)
    ++asked;
  CHECK(asked > 0);
  CHECK(asked < 1000);
  CHECK(gpu->counters().waits == 0);
}

TEST_CASE("A child process is told that it cannot use its parent's GPU") {
  const EmulatedGpu gpu;
  const DeviceMemory memory = gpu.memory(std::vector<char>(100, 7));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Status status = gpu->allocate(100).status();
    const bool isTold = status.kind() == ErrorKind::device_error &&
                        status.message() == "cuda:0: it was opened before fork(), and a child process cannot use it";
    const bool downloads = gpu->download({}, memory.get()).isOk();
    _exit(isTold && !downloads ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(gpu.values<char>(memory, 100) == std::vector<char>(100, 7));
}
