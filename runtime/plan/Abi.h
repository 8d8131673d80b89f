// The calling convention of kernel code, the only ABI contract between compiler and runtime.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone {

/// A CPU kernel computes blocks [blockBegin, blockEnd) of its grid. Blocks are independent: they may run in any order,
/// on any thread and in any partition.
///   buffers  operands in order, then results in order; row-major, dense, 64-byte aligned. bool is one byte, 0 or 1.
///   extents  the launch arguments, in this order: extents of dims, block sizes, lookup arguments (docs/kernel-form.md).
///   scratch  64-byte aligned, private to the calling thread, of at least LaunchStep::scratchBytes and 64 bytes. In a
///            thread's first call of a launch, the first eight bytes are 0 and the rest is undefined. In its later calls
///            of that launch, with the same buffers and extents, the contents are preserved: a block may use data that
///            an earlier block prepared.
using CpuKernelFunction = void (*)(void *const *buffers, const int64_t *extents, int64_t blockBegin, int64_t blockEnd,
                                   void *scratch);

/// Alignment in bytes of every slot, variable and scratch area.
inline constexpr int64_t bufferAlignment = 64;

} // namespace halftone
