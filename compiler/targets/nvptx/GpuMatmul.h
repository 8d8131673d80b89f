// How a block of threads shares a tile of a product of matrices: the table of tilings, and the instructions.
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

/// An instruction by which a warp multiplies a part of a tile: mma.sync of 16 rows and 8 columns.
struct MmaInstruction {
  std::string_view name;
  DType factor, accumulator;
  int64_t depth; // indices of K
  bool isExact;  // gives the bits of multiply-adds in order
};

/// Null if products are multiply-adds.
const MmaInstruction *chooseMmaInstruction(const MatmulTraits &traits);
const MmaInstruction *mmaInstructionNamed(std::string_view name);

/// The tile for an m x k by k x n product (per batch entry; `batch` of them), of a GPU with `multiprocessors`.
MatmulTile chooseMatmulTile(int64_t batch, int64_t m, int64_t n, int64_t multiprocessors);

/// How multiply-adds in `accumulator` share a tile that holds `tile`; nullopt if `tile` is larger than all.
std::optional<MatmulTiling> multiplyAddTiling(const MatmulTile &tile, mlir::Type accumulator);
/// The same of products by an instruction with factors of `factorBytes`.
std::optional<MatmulTiling> mmaTiling(const MatmulTile &tile, int64_t factorBytes);

} // namespace halftone::compiler
