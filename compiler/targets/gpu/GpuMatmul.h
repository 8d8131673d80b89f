// How a block of threads shares a tile of a product of matrices: the table of tilings.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/IR/Types.h"
#include <optional>

namespace halftone::compiler {

/// The sums that a block computes and how its threads share them. All are powers of two and constants of the code.
struct MatmulTiling {
  int64_t rows = 0, columns = 0;
  int64_t depth = 0;                     // indices of K that are in shared memory at a time
  int64_t partRows = 0, partColumns = 0; // the sums of one thread or, if `workers` is 32, of one warp
  int64_t workers = 1;                   // threads that make a part together

  int64_t down() const { return rows / partRows; } // parts along either side
  int64_t across() const { return columns / partColumns; }
  int64_t threads() const { return down() * across() * workers; }
};

/// The tile for an m x k by k x n product (per batch entry; `batch` of them), of a GPU with `multiprocessors`.
MatmulTile chooseMatmulTile(int64_t batch, int64_t m, int64_t n, int64_t multiprocessors);

/// How multiply-adds in `accumulator` share a tile that holds `tile`; nullopt if `tile` is larger than all.
std::optional<MatmulTiling> multiplyAddTiling(const MatmulTile &tile, mlir::Type accumulator);
/// The same of products that warps make, of `depth` indices of K at a time.
std::optional<MatmulTiling> warpTiling(const MatmulTile &tile, int64_t depth);

} // namespace halftone::compiler
