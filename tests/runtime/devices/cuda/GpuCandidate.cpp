// Loads the counting kernels, and sums their marks.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/devices/cuda/GpuCandidate.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <catch2/catch.hpp>
#include <numeric>
#include <span>

namespace halftone::test {
namespace {

constexpr size_t maxBlocks = 20000;

/// Owns what a candidate's handles and buffers point to.
struct Kept {
  Kept(std::shared_ptr<DeviceRuntime> device, std::shared_ptr<const void> owner)
      : owner(std::move(owner)), gpu(std::move(device)), marks(gpu->allocate((maxBlocks + 1) * 4).valueOrThrow()),
        kernels(gpu->load({{"count", countingKernel(true)}, {"each", countingKernel(false)}}).valueOrThrow()) {}

  int64_t takeBlocks() const {
    std::vector<int> counts(maxBlocks + 1);
    REQUIRE(gpu->download(std::as_writable_bytes(std::span(counts)), marks.get()).isOk());
    const std::vector<int> none(maxBlocks + 1);
    REQUIRE(gpu->upload(marks.get(), std::as_bytes(std::span(none))).isOk());
    return std::accumulate(counts.begin(), counts.end(), int64_t(0));
  }

  std::shared_ptr<const void> owner;
  std::shared_ptr<DeviceRuntime> gpu;
  DeviceMemory marks;
  std::shared_ptr<const KernelLibrary> kernels;
};

} // namespace

Candidate gpuCandidate(std::shared_ptr<DeviceRuntime> gpu, std::shared_ptr<const void> owner) {
  const auto kept = std::make_shared<Kept>(std::move(gpu), std::move(owner));
  return {kept->gpu->name(),   kept->gpu,   [kept] { return kept->takeBlocks(); }, *kept->kernels->find("count"),
          {kept->marks.get()}, {maxBlocks}, *kept->kernels->find("each"),          true,
          [] { return 0; },    kept};
}

} // namespace halftone::test
