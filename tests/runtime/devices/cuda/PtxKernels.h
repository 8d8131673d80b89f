// Kernels as PTX that follow GpuAbi.h, for tests of devices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/plan/Executable.h"
#include <map>
#include <string>

namespace halftone::test {

/// PTX of one entry that follows GpuAbi.h. In the body, %in0, %in1, ... are the addresses and then the extents of the
/// block's part, %block is the block's index in its part, %scratch the address of its scratch; %p, %r0 to %r3, %d0 to %d3
/// and %f0 to %f3 are free.
KernelCode gpuKernel(const std::string &symbol, int buffers, int extents, const std::string &body,
                     LaunchShape shape = {.threads = 1});

/// Adds 1 to the integer of 32 bits at [block] in the one buffer, at [extent] for blocks from the one extent on; writes
/// the first and the last byte of 256 bytes of scratch if `usesScratch`.
KernelCode countingKernel(bool usesScratch);

/// Adds the one extent to the integer of 32 bits at [block] in the one buffer.
KernelCode addingKernel();

/// The kernels of TestPlan.h and RepeatPlans.h. The sum goes through scratch, as there.
std::map<std::string, KernelCode> planKernels();

} // namespace halftone::test
