// Packing a tile's operands in the accumulator's type or in groups, in the order in which the multiplication reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulGroups.h"
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
        plan(block.plan), lanes(block.sizes.lanes) {}

  void packRows(const MatmulDepth &depth);
  void packColumns(const MatmulDepth &depth);
  /// Packs B's columns from `begin` to `end`, which are read along K.
  void packColumnsTransposed(Emitted begin, Emitted end, const MatmulDepth &depth);
  /// Looks at pairs of A that are read in place.
  void watchRows(Emitted rows, Emitted rowPitch, const MatmulDepth &depth);
  /// Where a vector of packed B's columns begins, and the pitch of its groups, in elements; `first` is the first
  /// column that is packed.
  std::pair<Emitted, Emitted> packedColumns(Emitted column, Emitted first) const;

private:
  void packRowsAlongDepth(const MatmulDepth &depth);
  void packRowsTurned(const MatmulDepth &depth);
  void packBias(const MatmulDepth &depth);
  Emitted rowsAcross(Emitted k, Emitted row) const; // where a vector of rows goes, the first of its panel
  void packAcross(int side, const MatmulDepth &depth);
  void packZerosPastDepth(const MatmulDepth &depth); // of B
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
  int64_t lanes;
};

} // namespace halftone::compiler
