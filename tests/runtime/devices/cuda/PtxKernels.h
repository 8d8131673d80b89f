// PTX kernels that follow GpuAbi.h, for tests of devices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/plan/Executable.h"
#include <map>
#include <string>

namespace halftone::test {

/// PTX of one entry point that follows GpuAbi.h. In the body, %in0, %in1, ... are the addresses and then the extents of
/// the part of the block, %block is the block index within the part, and %scratch is the address of its scratch. %p,
/// %r0 to %r3, %d0 to %d3 and %f0 to %f3 are free.
KernelCode gpuKernel(const std::string &symbol, int buffers, int extents, const std::string &body,
                     LaunchShape shape = {.threads = 1});

/// Adds 1 to the 32-bit integer at [block] of its only buffer, or at [extent] for blocks from its only extent on.
/// Writes the first and the last byte of 256 bytes of scratch if `usesScratch`.
KernelCode countingKernel(bool usesScratch);

/// Adds its only extent to the 32-bit integer at [block] of its only buffer.
KernelCode addingKernel();

/// The kernels of TestPlan.h and RepeatPlans.h. As there, the sum uses scratch.
std::map<std::string, KernelCode> planKernels();

} // namespace halftone::test
