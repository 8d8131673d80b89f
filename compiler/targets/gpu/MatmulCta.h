// The values that the code of one tile of a product shares: its position, and the problem sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MatmulSource.h"
#include "compiler/targets/gpu/GpuMatmul.h"
#include "compiler/targets/gpu/GridFrame.h"

namespace halftone::compiler {

/// Joins scalars of one type into a vector; extracts a lane of a vector.
Emitted joined(CodeBuilder &builder, llvm::ArrayRef<Emitted> scalars);
Emitted laneOf(CodeBuilder &builder, Emitted vector, int64_t lane);

/// A block's tile, as given in a schedule.
struct BlockTile {
  BlockTile(llvm::ArrayRef<int64_t> tile, llvm::ArrayRef<int64_t> divisors)
      : sizes{tile[0], tile[1]}, divisors(divisors) {}

  MatmulTile sizes;
  llvm::ArrayRef<int64_t> divisors; // of each dim's extent
};

class MatmulCta {
public:
  /// Emits the code that computes the tile of the frame's block.
  MatmulCta(const MatmulSource &source, const BlockTile &tile, const MatmulTiling &tiling, GridFrame &frame);

  /// Sets the frame's index of the dims of `role` from the role's linear index.
  void moveTo(MatmulRole role, Emitted linear) const { frame.delinearize(linear, source.group[role]); }
  /// Returns true if the extent of `dim` is a multiple of `count`, a power of two.
  bool isMultiple(int dim, int64_t count) const;
  Emitted constant(int64_t value) const { return frame.constant(value); }

  const MatmulSource &source;
  const MatmulTile tile;
  const llvm::ArrayRef<int64_t> divisors;
  const MatmulTiling &tiling;
  GridFrame &frame;
  std::array<Emitted, 4> size; // for each role
  Emitted columnTiles;         // in the whole product
  Emitted columnTile;
  Emitted rowTileIndex;                         // batch * row tiles + row tile
  Emitted firstRow, firstColumn, rows, columns; // of the tile
};

} // namespace halftone::compiler
