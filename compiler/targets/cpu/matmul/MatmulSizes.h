// Sizes of a CPU's micro-kernels, and the scratch of a matmul kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/Products.h"

namespace halftone::compiler {

/// Sizes of the micro-kernels, whose sums are in registers. Columns are done in panels of `vectors` vectors, the
/// rest of them vector by vector; rows in groups as large as the registers hold, the rest in smaller ones. `depth`
/// is how many indices of K are packed at a time.
struct MatmulSizes {
  int64_t lanes, vectors;
  llvm::SmallVector<int64_t, 3> panelRows, vectorRows; // descending, the last is 1
  int64_t depth = 256;                                 // at most
  int64_t rowStep = 1;                                 // sums are made for a multiple of it
  int64_t columns() const { return lanes * vectors; }
  /// Elements between rows of packed A that lie along K: a vector more than they have, so that rows begin in different
  /// sets of a cache.
  int64_t rowPitch() const { return depth + lanes; }
  /// `tallSums`: panels of two vectors, and groups of more rows.
  MatmulSizes(const CpuTarget &cpu, mlir::Type accumulator, const ProductRow &product, bool tallSums = false);
  /// Of a matmul kernel.
  MatmulSizes(const CpuTarget &cpu, mlir::Type accumulator, const KernelSource &source);
};

/// Scratch of one tile, in elements of the accumulator: packed A, packed B, sums, and a square of lanes for
/// transposing with a line for the values that packing A watched. Before them stands, in eight bytes, which tile's A is
/// packed: batch * row tiles + row tile + 1; and in eight bytes each, which column tiles' panels the thread has watched in
/// this launch, and which of them have a subnormal number.
struct MatmulScratch {
  static constexpr int64_t headBytes = 64;
  int64_t a, b, sums, square; // elements
  /// `packsRows`: A is packed.
  MatmulScratch(const MatmulSizes &sizes, int64_t tileRows, int64_t tileColumns, bool packsRows = true);
};

} // namespace halftone::compiler
