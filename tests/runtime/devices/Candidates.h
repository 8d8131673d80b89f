// The devices that run through the conformance suite. Each test program has its own devices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Device.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace halftone::test {

struct Candidate {
  std::string name;
  std::shared_ptr<DeviceRuntime> device;
  /// The number of blocks of `count` that the device has run, or would have run, since the last call.
  std::function<int64_t()> takeBlocks;
  KernelHandle count;
  std::vector<void *> countBuffers = {};
  std::vector<int64_t> countExtents = {};
  /// Adds 1 to the 32-bit integer at [block] of its only operand, or at [extent] for blocks from its only extent on.
  KernelHandle countEach;
  bool computes = true;
  /// The number of calls whose scratch violates the contract (Abi.h, GpuAbi.h).
  std::function<int64_t()> scratchFaults = [] { return 0; };
  std::shared_ptr<const void> owner = nullptr; // owns what the handles and buffers point to
};

std::vector<Candidate> candidates();

} // namespace halftone::test
