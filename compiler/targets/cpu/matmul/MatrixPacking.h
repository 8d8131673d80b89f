// Packing an operand of a matmul that is a matrix (MatmulPlan::isMatrix), by cores.
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

  /// Where the element of a column of the tile is at the first index of a part of K; of A, that of a row.
  Emitted firstOf(int side, Emitted column, const MatmulDepth &depth) const;
  /// All columns of B that lie across K, or all such rows of A.
  void packAcross(int side, const MatmulDepth &depth);
  /// B's columns from `begin` to `end`, which lie along K: a strip, or all.
  void packColumnsTransposed(Emitted begin, Emitted end, const MatmulDepth &depth);

private:
  PackingCore coreOf(int side) const;
  /// `call` has the fields about packed elements.
  void pack(const PackingCore &core, int side, Emitted column, Emitted columns, const MatmulDepth &depth,
            PackingCore::Call call);
  void turnColumns(Emitted column, Emitted columns, Emitted first, const MatmulDepth &depth);
  Emitted constant(int64_t value) const { return frame.constant(value); }

  const MatmulBlock &block;
  const MatmulAccess &access;
  SubnormalWatch &watch;
  KernelFrame &frame;
  const MatmulPlan &plan;
  int64_t lanes;
};

} // namespace halftone::compiler
