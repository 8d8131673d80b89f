// The values that the code of one matmul block shares: sizes, scratch, the tile that the block computes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"
#include "compiler/targets/cpu/matmul/MatmulPlan.h"

namespace halftone::compiler {

/// The part of K that is packed at a time, in packed elements: single indices or groups.
struct MatmulDepth {
  Emitted first, count;
};

class MatmulBlock {
public:
  MatmulBlock(const MatmulPlan &plan, KernelFrame &frame);
  /// From here on code is for the block numbered `block`.
  void begin(Emitted block);

  // Vectors and addresses of accumulators and packed elements.
  mlir::VectorType lanesOf(mlir::Type element) const { return mlir::VectorType::get(sizes.lanes, element); }
  Emitted splat(Emitted scalar) const { return frame.splat(scalar, sizes.lanes); }
  Emitted zeros() const { return splat(frame.zero(plan.accumulator)); }
  Emitted at(Emitted pointer, Emitted offset) const { return frame.address(pointer, plan.accumulator, offset); }
  /// A vector in scratch or in panels, where vectors are aligned.
  Emitted load(Emitted at) const { return frame.load(lanesOf(plan.accumulator), at, plan.cpu.vectorBytes); }
  void store(Emitted vector, Emitted at) const { frame.store(vector, at, plan.cpu.vectorBytes); }

  Emitted constant(int64_t value) const { return frame.constant(value); }
  /// `count` without those after the last whole `step`.
  Emitted wholeOf(Emitted count, int64_t step) const { return count / constant(step) * step; }
  /// Where a vector of packed B's columns begins, and the pitch of its groups, in elements; `first` is the first column that is
  /// packed.
  std::pair<Emitted, Emitted> packedColumns(Emitted column, Emitted first) const;
  /// The offset of a vector of rows, the first of its panel, in A that is packed as [k][row] or [panel][k][row].
  Emitted rowsAcross(Emitted k, Emitted row) const;
  /// How many packed elements make K.
  Emitted groups() const { return ceilDivide(size[depthRole], constant(plan.groupSize)); }
  Emitted pointerOf(mlir::Value tensor) const { return frame.storage.lookup(tensor).pointer; }

  const MatmulPlan &plan;
  const MatmulSizes &sizes;
  KernelFrame &frame;
  std::array<Emitted, 4> size; // of each role
  Emitted tileRows, tileColumns, rowTiles, columnTiles;
  Emitted packedRowsAt;                         // in the head of scratch: the tile whose A is packed
  Emitted watchedPanelsAt, subnormalPanelsAt;   // in the head too: bits of column tiles, see MatmulOrder::watchPanels
  Emitted packedA, packedB, sums, square;       // in scratch
  Emitted watchedAt;                            // the values that packing A watched
  Emitted sumsPitch, packedPitch;               // elements between rows of sums, of packed A as [k][row]
  Emitted batch, rowTile, columnTile;           // of the block
  Emitted rowsOfTile;                           // which rows of A it has: batch * row tiles + row tile
  Emitted firstRow, firstColumn, rows, columns; // of its tile
};

} // namespace halftone::compiler
