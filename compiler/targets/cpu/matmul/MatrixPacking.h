// Packs an operand of a matmul that is a plain matrix (MatmulPlan::isMatrix), by cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulAccess.h"
#include "compiler/targets/cpu/matmul/PackingCores.h"
#include "compiler/targets/cpu/matmul/SubnormalWatch.h"

namespace halftone::compiler {

class MatrixPacking {
public:
  MatrixPacking(const MatmulBlock &block, const MatmulAccess &access, SubnormalWatch &watch)
      : block(block), access(access), watch(watch), frame(block.frame), plan(block.plan), lanes(block.sizes.lanes) {}

  /// The address of the element of a column of the tile, or of a row for A, at the first index of a slice of K.
  Emitted firstOf(int side, Emitted column, const MatmulDepth &depth) const;
  /// Packs all columns of B, or all rows of A, whose elements are not contiguous along K.
  void packAcross(int side, const MatmulDepth &depth);
  /// Packs B's columns from `begin` to `end`, a strip or all, whose elements are contiguous along K.
  void packColumnsTransposed(Emitted begin, Emitted end, const MatmulDepth &depth);

private:
  PackingCore coreOf(int side) const;
  /// `call` has the arguments for packed elements.
  void pack(const PackingCore &core, int side, Emitted column, Emitted columns, const MatmulDepth &depth,
            PackingCore::Call call);
  void packPanelTransposed(Emitted column, Emitted columns, Emitted first, const MatmulDepth &depth);
  Emitted constant(int64_t value) const { return frame.constant(value); }

  const MatmulBlock &block;
  const MatmulAccess &access;
  SubnormalWatch &watch;
  KernelFrame &frame;
  const MatmulPlan &plan;
  int64_t lanes;
};

} // namespace halftone::compiler
