// Kernels run on the emulated CUDA driver, without the device of the product.
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
  std::vector<std::string> operands; // the bytes of each operand
  std::vector<size_t> resultBytes;
  std::vector<int64_t> extents;
  int64_t grid = 1;
  int64_t scratchBytes = 0;   // per block
  std::vector<int> over = {}; // for each result, the operand whose memory it reuses, or -1; empty: none does
};

/// Returns the bytes of each result of `launch`, computed `parts` times in one launch: 0 passes parameters, otherwise a
/// table of parts. Results and scratch are initially undefined, so the emulator finds reads of unwritten bytes,
/// out-of-bounds accesses, races and threads that miss a barrier. `seed` determines its order of warps and blocks.
/// Fails the test at any fault, with its text, and checks that all parts have the same results. With `over`, at most
/// one part.
std::vector<std::string> runOnGpu(const GpuLaunch &launch, int parts, unsigned seed);

/// The bytes of each result of each part of a launch, or the fault that terminated it.
struct GpuOutcome {
  std::vector<std::string> results;
  std::string fault; // empty: no fault
  bool operator==(const GpuOutcome &) const = default;
};

/// Like runOnGpu(), for launches that may fail.
GpuOutcome tryOnGpu(const GpuLaunch &launch, int parts, unsigned seed);

/// Runs one block and returns true if it computes with `predicate` at the address of the predicate. -1: no predicate.
bool runsUnder(const GpuLaunch &launch, int predicate, bool negated);

/// Runs `launch` in the emulator's default order. Returns the wavefronts and sectors of each memory instruction.
std::vector<emulator::AccessRow> accessesOnGpu(const GpuLaunch &launch);

} // namespace halftone::testing
