// The table of tilings: how the threads of a block share a tile of a matrix product.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/IR/Types.h"
#include <optional>

namespace halftone::compiler {

/// The sums that a block computes and their division among its threads. All are powers of two and constants in the
/// code.
struct MatmulTiling {
  int64_t rows = 0, columns = 0;
  int64_t depth = 0;                     // indices of K in shared memory at a time
  int64_t partRows = 0, partColumns = 0; // the sums of one thread or, if `workers` is 32, of one warp
  int64_t workers = 1;                   // threads that compute a part together

  int64_t down() const { return rows / partRows; } // the number of parts along either side
  int64_t across() const { return columns / partColumns; }
  int64_t threads() const { return down() * across() * workers; }
};

/// The tile for an m x k by k x n product (`batch` of them) on a GPU with `multiprocessors`.
MatmulTile chooseMatmulTile(int64_t batch, int64_t m, int64_t n, int64_t multiprocessors);

/// The tiling of multiply-adds in `accumulator` that contains `tile`; nullopt if `tile` is larger than all tilings.
std::optional<MatmulTiling> multiplyAddTiling(const MatmulTile &tile, mlir::Type accumulator);
/// The tiling of warp-level products of `depth` indices of K at a time that contains `tile`; nullopt as above.
std::optional<MatmulTiling> warpTiling(const MatmulTile &tile, int64_t depth);

} // namespace halftone::compiler
