// The sizes of a CPU's micro-kernels, and the scratch layout of a matmul kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/Products.h"

namespace halftone::compiler {

/// Sizes of the micro-kernels, whose sums are in registers. Columns are multiplied in panels of `vectors` vectors, and
/// the remaining ones vector by vector; rows in groups as large as the registers allow, and the remaining ones in
/// smaller groups. `depth` is the number of indices of K that are packed at a time.
struct MatmulSizes {
  int64_t lanes, vectors;
  llvm::SmallVector<int64_t, 3> panelRows, vectorRows; // descending, the last is 1
  int64_t depth = 256;                                 // at most
  int64_t rowStep = 1;                                 // sums are computed for a multiple of it
  int64_t columns() const { return lanes * vectors; }
  /// The pitch of packed rows of A that lie along K, in elements: one vector more than their length, so that rows begin
  /// in different cache sets.
  int64_t rowPitch() const { return depth + lanes; }
  /// `tallSums` selects panels of two vectors and groups of more rows.
  MatmulSizes(const CpuTarget &cpu, mlir::Type accumulator, const ProductRow &product, bool tallSums = false);
  /// The sizes of a matmul kernel.
  MatmulSizes(const CpuTarget &cpu, mlir::Type accumulator, const KernelSource &source);
};

/// Scratch of one tile, in elements of the accumulator: packed A, packed B, a square of lanes for
/// transposing, one vector for the magnitudes seen while A was packed, and sums. The head before them has three 8-byte
/// words: the tile whose A is packed, as batch * row tiles + row tile + 1; a bit mask of the column tiles whose
/// panels the thread has checked in this launch; and a bit mask of those that contain a subnormal number.
struct MatmulScratch {
  static constexpr int64_t headBytes = 64;
  int64_t a, b, sums, square; // elements
  /// `packsRows`: A is packed.
  MatmulScratch(const MatmulSizes &sizes, int64_t tileRows, int64_t tileColumns, bool packsRows = true);
};

} // namespace halftone::compiler
