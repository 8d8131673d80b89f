// The epilogue of a matmul kernel's tile: sums in, results and side reductions out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulAccess.h"

namespace halftone::compiler {

class MatmulEpilogue {
public:
  MatmulEpilogue(const MatmulBlock &block, const MatmulAccess &access);
  /// Finishes the tile of the block.
  void emit() const;

private:
  /// A side reduction among the outputs.
  struct Side {
    unsigned output;
    bool keepsColumns;
    Emitted neutral; // in all lanes
  };
  /// Neighbouring columns that are finished together: `vectors` vectors from `column` on, all within the tile or not.
  struct Columns {
    Emitted column;
    int64_t vectors;
    bool whole;
  };

  void emitResults() const;
  void emitSideReductions() const;
  Values reduceColumns(const Columns &columns, const Values &carried) const;
  /// The body on one vector of a row; stores the results and returns the accumulators of the side reductions.
  Values emitLanes(Emitted row, Emitted column, bool whole, const Values &accumulators) const;
  Emitted sumsAt(Emitted row, Emitted column) const;
  /// Asks for the lines of the full results at the row, to write them: a weight's may be in the cache of a core that
  /// read it.
  void prefetchResults(Emitted row, Emitted column) const;
  /// Stores the side reductions that keep N, for the columns from `column` on.
  void storeKept(const Values &sums, Emitted column) const;
  /// Stores the others, each folded to a scalar.
  void storeTotals(const Values &sums) const;
  TensorAccess accessOf(unsigned output) const;
  Emitted lane(Emitted vector, int64_t lane) const;

  const MatmulBlock &block;
  const MatmulAccess &access;
  KernelFrame &frame;
  const MatmulPlan &plan;
  mutable mlir::linalg::GenericOp epilogue;
  llvm::SmallVector<Side> sides;
};

} // namespace halftone::compiler
