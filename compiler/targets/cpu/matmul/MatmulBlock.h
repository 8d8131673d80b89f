// The values that are shared by the code of one matmul block: sizes, scratch, the tile that the block computes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"
#include "compiler/targets/cpu/matmul/MatmulPlan.h"

namespace halftone::compiler {

/// The slice of K that is packed at a time, in packed elements: single indices or groups.
struct MatmulDepth {
  Emitted first, count;
};

class MatmulBlock {
public:
  MatmulBlock(const MatmulPlan &plan, KernelFrame &frame);
  /// Sets the block with index `block` for the code that follows.
  void begin(Emitted block);

  // Vectors and addresses of accumulators and packed elements.
  mlir::VectorType lanesOf(mlir::Type element) const { return mlir::VectorType::get(sizes.lanes, element); }
  Emitted splat(Emitted scalar) const { return frame.splat(scalar, sizes.lanes); }
  Emitted zeros() const { return splat(frame.zero(plan.accumulator)); }
  Emitted at(Emitted pointer, Emitted offset) const { return frame.address(pointer, plan.accumulator, offset); }
  /// Loads a vector from scratch or from panels, where vectors are aligned.
  Emitted load(Emitted at) const { return frame.load(lanesOf(plan.accumulator), at, plan.cpu.vectorBytes); }
  void store(Emitted vector, Emitted at) const { frame.store(vector, at, plan.cpu.vectorBytes); }

  Emitted constant(int64_t value) const { return frame.constant(value); }
  /// `count` rounded down to a multiple of `step`.
  Emitted wholeOf(Emitted count, int64_t step) const { return count / constant(step) * step; }
  /// The address of a vector of columns in packed B, and the pitch of its groups in elements. `first` is the first
  /// packed column.
  std::pair<Emitted, Emitted> packedColumns(Emitted column, Emitted first) const;
  /// The offset at index `k` of the vector of rows that begins at `row`, in A packed as [k][row] or [panel][k][row]. In
  /// panels, `row` is the first row of its panel.
  Emitted rowsAcross(Emitted k, Emitted row) const;
  /// The number of packed elements along K.
  Emitted groups() const { return ceilDivide(size[depthRole], constant(plan.groupSize)); }
  Emitted pointerOf(mlir::Value tensor) const { return frame.storage.lookup(tensor).pointer; }

  const MatmulPlan &plan;
  const MatmulSizes &sizes;
  KernelFrame &frame;
  std::array<Emitted, 4> size; // of each role
  Emitted tileRows, tileColumns, rowTiles, columnTiles;
  Emitted packedRowsAt;                         // in the head of scratch: the tile whose A is packed
  Emitted watchedPanelsAt, subnormalPanelsAt;   // also in the head: one bit per column tile (MatmulScratch)
  Emitted packedA, packedB, sums, square;       // in scratch
  Emitted watchedAt;                            // the magnitudes seen while A was packed (SubnormalWatch)
  Emitted sumsPitch, packedPitch;               // in elements: of rows of sums; of A packed as [k][row], along k
  Emitted batch, rowTile, columnTile;           // of the block
  Emitted rowsOfTile;                           // index of its rows of A: batch * row tiles + row tile
  Emitted firstRow, firstColumn, rows, columns; // of its tile
};

} // namespace halftone::compiler
