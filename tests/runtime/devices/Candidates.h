// The devices that run through the conformance suite. Each test program has devices of its own.
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
  /// How many blocks of `count` the device has run, or would have run, since the last call.
  std::function<int64_t()> takeBlocks;
  KernelHandle count;
  std::vector<void *> countBuffers = {};
  std::vector<int64_t> countExtents = {};
  /// Adds 1 to the integer of 32 bits at [block] in the one operand, at [extent] for blocks from the one extent on.
  KernelHandle countEach;
  bool computes = true;
  /// How many calls got scratch that breaks the rules (Abi.h, GpuAbi.h).
  std::function<int64_t()> scratchFaults = [] { return 0; };
  std::shared_ptr<const void> owner = nullptr; // of all that the handles and buffers point to
};

std::vector<Candidate> candidates();

} // namespace halftone::test
