// Packing a tile's operands in the accumulator's type or in groups, in the order in which the multiplication reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulGroups.h"
#include "compiler/targets/cpu/matmul/MatrixPacking.h"
#include "compiler/targets/cpu/matmul/SubnormalWatch.h"

namespace halftone::compiler {

/// B lies in panels of as many columns as the micro-kernel has, [panel][k][column], the columns after the last whole
/// panel in panels of one vector. A's elements are read one by one, so that it may lie as its operand does: [row][k] or
/// [k][row]. The latter is cut in panels too, [panel][k][row], for ReadA::packedPanels.
class MatmulPacking {
public:
  MatmulPacking(const MatmulBlock &block, const MatmulAccess &access, const MatmulOperands &operands,
                const MatmulGroups &groups, SubnormalWatch &watch)
      : block(block), access(access), operands(operands), groups(groups), watch(watch), frame(block.frame),
        plan(block.plan), matrix(block, access, watch), lanes(block.sizes.lanes) {}

  void packRows(const MatmulDepth &depth);
  void packColumns(const MatmulDepth &depth);
  /// Packs B's columns from `begin` to `end`, which are read along K.
  void packColumnsTransposed(Emitted begin, Emitted end, const MatmulDepth &depth);
  /// As MatrixPacking::firstOf().
  Emitted firstOf(int side, Emitted column, const MatmulDepth &depth) const {
    return matrix.firstOf(side, column, depth);
  }
  /// Looks at pairs of A that are read in place.
  void watchRows(Emitted rows, Emitted rowPitch, const MatmulDepth &depth);

private:
  void packRowsAlongDepth(const MatmulDepth &depth);
  void packRowsTurned(const MatmulDepth &depth);
  void packBias(const MatmulDepth &depth);
  void packAcross(int side, const MatmulDepth &depth);
  void packLanesAcross(int side, const MatmulDepth &depth); // of an operand that is no matrix
  void packZerosPastDepth(const MatmulDepth &depth);        // of B
  Values squareOfColumns(Emitted start, Emitted k, const MatmulDepth &depth);
  Emitted columnAlongDepth(Emitted column, Emitted k, const MatmulDepth &depth) const;
  void store(Emitted vector, Emitted at);
  Emitted constant(int64_t value) const { return frame.constant(value); }
  Emitted squareRow(Emitted row) const { return block.at(block.square, row * lanes); }

  const MatmulBlock &block;
  const MatmulAccess &access;
  const MatmulOperands &operands;
  const MatmulGroups &groups;
  SubnormalWatch &watch;
  KernelFrame &frame;
  const MatmulPlan &plan;
  MatrixPacking matrix;
  int64_t lanes;
};

} // namespace halftone::compiler
