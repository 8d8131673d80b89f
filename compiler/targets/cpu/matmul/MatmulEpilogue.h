// The epilogue of a matmul kernel's tile: from the sums to results and partial reductions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulAccess.h"

namespace halftone::compiler {

class MatmulEpilogue {
public:
  MatmulEpilogue(const MatmulBlock &block, const MatmulAccess &access);
  /// Emits the epilogue of the block's tile.
  void emit() const;

private:
  /// A partial reduction among the outputs.
  struct Partial {
    unsigned output;
    bool keepsColumns;
    Emitted neutral; // in all lanes
  };
  /// Adjacent columns that are processed together: `vectors` vectors from `column` on.
  struct Columns {
    Emitted column;
    int64_t vectors;
    LanesInside inside;
  };

  void emitResults() const;
  void emitPartialReductions() const;
  Values reduceColumns(const Columns &columns, const Values &carried) const;
  /// Emits the body for one vector of a row; stores the results and returns the accumulators of the partial reductions.
  Values emitLanes(Emitted row, Emitted column, LanesInside inside, const Values &accumulators) const;
  Emitted sumsAt(Emitted row, Emitted column) const;
  /// Prefetches the cache lines of the full results at the row for writing: lines of a weight may be in the cache of
  /// another core that read it.
  void prefetchResults(Emitted row, Emitted column) const;
  /// Stores the partial reductions that keep N, for the columns from `column` on.
  void storeKept(const Values &sums, Emitted column, LanesInside inside) const;
  /// Stores the other partial reductions, each folded to a scalar.
  void storeTotals(const Values &sums) const;
  TensorAccess accessOf(unsigned output) const;
  Emitted lane(Emitted vector, int64_t lane) const;

  const MatmulBlock &block;
  const MatmulAccess &access;
  KernelFrame &frame;
  const MatmulPlan &plan;
  mutable mlir::linalg::GenericOp epilogue;
  llvm::SmallVector<Partial> partials;
};

} // namespace halftone::compiler
