// Kernels run on the emulated CUDA driver, without the product's device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/plan/Executable.h"
#include "tests/emulator/tests/AccessTable.h"
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::testing {

/// One launch of a kernel.
struct GpuLaunch {
  const KernelCode &code;
  std::vector<std::string> operands; // bytes of each
  std::vector<size_t> resultBytes;
  std::vector<int64_t> extents;
  int64_t grid = 1;
  int64_t scratchBytes = 0;   // of a block
  std::vector<int> over = {}; // for each result, the operand whose memory it takes, or -1; empty: none does
};

/// The bytes of each result of `launch`, made `parts` times in one launch: 0 by the parameters, else by the table. Results
/// and scratch are undefined before; the emulator then finds reads of bytes that nothing wrote, accesses outside of
/// buffers, races and threads that miss a barrier. `seed` chooses its order of warps and blocks. Fails the test at any
/// fault, with its text; checks that all parts have the same results. With `over`, one part at most.
std::vector<std::string> runOnGpu(const GpuLaunch &launch, int parts, unsigned seed);

/// The bytes of each result of each part of a launch, or the fault that ended it.
struct GpuOutcome {
  std::vector<std::string> results;
  std::string fault; // empty: there was none
  bool operator==(const GpuOutcome &) const = default;
};

/// As runOnGpu, for launches that may fail.
GpuOutcome tryOnGpu(const GpuLaunch &launch, int parts, unsigned seed);

/// Whether the block computes with `predicate` at the predicate's address: runs one block and compares. -1: no predicate.
bool runsUnder(const GpuLaunch &launch, int predicate, bool negated);

/// The wavefronts and sectors of each memory instruction of `launch`, whose operands it runs on with the emulator's own order.
std::vector<emulator::AccessRow> accessesOnGpu(const GpuLaunch &launch);

} // namespace halftone::testing
