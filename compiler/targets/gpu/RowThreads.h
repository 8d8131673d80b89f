// How the threads of a block share the rows of a row kernel: a function of extents and types only.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelSource.h"

namespace halftone::compiler {

inline constexpr int64_t maxRowThreads = 1024; // per block: the limit of all GPUs
inline constexpr int64_t maxVector = 8;        // elements per vector
inline constexpr int64_t maxHeld = 128;        // elements of a row that a thread holds: half of its registers

/// The parameters of #halftone_gpu.row (Schedules.td).
struct RowTile {
  int64_t teams = 1, across = 1, vector = 1, steps = 0;
};

/// One warp for a short row, more warps for a longer one, up to 1024 threads. If registers cannot hold a row, a block
/// processes one row at a time in steps. Vectors have 16 bytes of the widest element type of an operand or result along
/// the rows.
RowTile chooseRowTile(const KernelSource &source, llvm::ArrayRef<int64_t> extents);

} // namespace halftone::compiler
