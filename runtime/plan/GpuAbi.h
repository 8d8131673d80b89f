// The parameters of a kernel entry on NVIDIA GPUs, an ABI contract between compiler and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone {

/// A GPU kernel's block is one CTA of KernelCode::launch.threads threads. The grid is one-dimensional and contains the
/// blocks of all parts of the launch, part by part. A kernel with `b` buffers and `e` extents has the parameters
///   u64 x b  addresses of operands, then of results    } not read if `parts` is not 0. A kernel whose parameters would
///   s64 x e  extents, as CpuKernelFunction's           } exceed gpuParameterBytes lacks both: it always has a table
///   u64      address of the table of parts, if `parts` is not 0
///   u64      predicate: address of a byte, or 0. The block returns at once if the byte is 0 (if `negated`: is not 0)
///   u64      scratch: address of all blocks' scratch
///   u64      bytes of scratch per block, a multiple of 64; the scratch of block i begins at i times this
///   u32      parts
///   u32      negated: 0 or 1
/// The table has, for each part in order, 1 + b + e entries of 8 bytes: the index of the part's first block in the grid,
/// the addresses, the extents. Addresses are multiples of bufferAlignment. Scratch is undefined when a block begins.
inline constexpr int64_t gpuParameterBytes = 4000;

/// Size in bytes of the parameters that follow the extents.
inline constexpr int64_t gpuFixedParameterBytes = 40;

/// Returns true if a kernel takes its buffers and extents as parameters when it is launched in one part.
constexpr bool takesParameters(int64_t buffers, int64_t extents) {
  return 8 * (buffers + extents) + gpuFixedParameterBytes <= gpuParameterBytes;
}

} // namespace halftone
