// The epilogue of a tile: sums are transferred through shared memory to threads that are adjacent in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/gpu/MatmulCta.h"

namespace halftone::compiler {

/// The tile is processed in chunks of `columns` columns. The sums of a chunk are in shared memory; each thread
/// processes a step of adjacent columns of the chunk, at rows of the tile with a constant stride.
class MatmulTileEpilogue {
public:
  MatmulTileEpilogue(const MatmulCta &cta, int64_t columns);

  /// The bytes of shared memory that the epilogue needs. place() sets its address.
  int64_t bytes() const;
  void place(Emitted at) { shared = at; }

  /// Stores a vector of `sums` from row `row` of the tile and column `column` of the current chunk on.
  void put(Emitted sums, Emitted row, Emitted column) const;
  /// Computes the results of the chunk that begins at column `first` from the sums that put() stored. Has a barrier
  /// before and after.
  void finishChunk(int64_t first);
  /// Stores the partial reductions that need all chunks.
  void finishTile();

private:
  /// A partial reduction among the outputs.
  struct Partial {
    unsigned output;
    Emitted neutral; // in all lanes
  };
  int64_t step() const { return std::max<int64_t>(lanes.count, 1); }
  int64_t across() const { return columns / step(); } // threads along a row
  Lanes lanesOfResults() const;
  Values finishRows(Emitted column, const Values &accumulators);
  Values finishElement(const Values &accumulators);
  Values combineThreads(llvm::ArrayRef<Partial> which, Values own, int64_t lines) const;
  void storePartials(llvm::ArrayRef<Partial> which, llvm::ArrayRef<Emitted> values, Emitted index) const;
  Emitted sumAt(Emitted row, Emitted column) const;
  Emitted sumsAt(Emitted row, Emitted column) const;
  int64_t partsOfStep() const;

  const MatmulCta &cta;
  GridFrame &frame;
  mutable mlir::linalg::GenericOp epilogue;
  const int64_t columns, pitch;        // pitch: sums between rows, such that rows begin at different banks
  const Lanes lanes;                   // of a step; none: single columns
  llvm::SmallVector<Partial> partials; // those that keep columns, then the others
  size_t keeping = 0;                  // the number of partials that keep columns
  Values totals;                       // of the others, over the chunks so far
  Emitted shared;
};

} // namespace halftone::compiler
