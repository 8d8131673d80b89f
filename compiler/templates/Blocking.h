// How kernels are cut into blocks: a function of extents alone, so that results depend on neither threads nor machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace halftone::compiler {

/// Rows and columns of the output that one block of a matmul kernel computes. `m` is a multiple of 4, `n` of 64, both
/// at most 192 and 256; the last block along an axis may be smaller.
struct MatmulTile {
  int64_t m = 0, n = 0;
};

/// The tile for an m x k by k x n product (per batch entry; `batch` of them): the axes in equal parts, as large as is
/// allowed (along M one part or an even number of them); halved while there are fewer than 16 blocks (4, where that
/// takes short ones) and a block keeps at least 2^17 multiply-adds, or 2^16 elements of the right operand.
MatmulTile matmulTile(int64_t batch, int64_t m, int64_t n, int64_t k);

/// With m rows each element of the right operand is used too seldom to be packed first.
bool readsInPlace(int64_t m);

/// The axis that loop and row kernels with side reductions are cut along: the first of extent > 1, or 0 when there is
/// none.
int64_t blockedAxis(llvm::ArrayRef<int64_t> shape);

/// Indices of `blockedAxis(shape)` in one block: at least 8192 elements a block, at most 512 blocks. 1 for a scalar.
int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape);

/// The `tile` of a partial_reduce over the first `reduced` axes of `shape` in a loop or row kernel with that blocking.
llvm::SmallVector<int64_t> sideReductionTile(llvm::ArrayRef<int64_t> shape, int64_t reduced);

} // namespace halftone::compiler
