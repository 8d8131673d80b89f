// Packs a tile's operands in the accumulator's type or in groups, in the order in which the multiplication reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulGroups.h"
#include "compiler/targets/cpu/matmul/MatrixPacking.h"
#include "compiler/targets/cpu/matmul/SubnormalWatch.h"

namespace halftone::compiler {

/// B is packed in panels of as many columns as the micro-kernel has, [panel][k][column]; the columns after the last
/// whole panel are in panels of one vector. A's elements are read one by one, so A keeps the order of its operand:
/// [row][k] or [k][row]. For ReadA::packedPanels the latter is also divided into panels, [panel][k][row].
class MatmulPacking {
public:
  MatmulPacking(const MatmulBlock &block, const MatmulAccess &access, const MatmulOperands &operands,
                const MatmulGroups &groups, SubnormalWatch &watch)
      : block(block), access(access), operands(operands), groups(groups), watch(watch), frame(block.frame),
        plan(block.plan), matrix(block, access, watch), lanes(block.sizes.lanes) {}

  void packRows(const MatmulDepth &depth);
  void packColumns(const MatmulDepth &depth);
  /// Packs B's columns from `begin` to `end`, whose elements are read along K.
  void packColumnsTransposed(Emitted begin, Emitted end, const MatmulDepth &depth);
  /// See MatrixPacking::firstOf().
  Emitted firstOf(int side, Emitted column, const MatmulDepth &depth) const {
    return matrix.firstOf(side, column, depth);
  }
  /// Checks the pairs of A, which are read in place, for subnormal numbers.
  void watchRows(Emitted rows, Emitted rowPitch, const MatmulDepth &depth);

private:
  void packRowsAlongDepth(const MatmulDepth &depth);
  void packRowsTransposed(const MatmulDepth &depth);
  void packBias(const MatmulDepth &depth);
  void packAcross(int side, const MatmulDepth &depth);
  void packLanesAcross(int side, const MatmulDepth &depth); // of an operand that is not a matrix
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
