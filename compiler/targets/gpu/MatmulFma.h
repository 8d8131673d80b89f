// Matrix products by multiply-adds: each thread holds the sums of some rows and columns in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/MatmulStage.h"
#include "compiler/targets/gpu/MatmulTileEpilogue.h"

namespace halftone::compiler {

/// A stage in shared memory as [k][row], widened to the accumulator's type, with a separate line for each k.
class WidenedStage : public MatmulStage {
public:
  WidenedStage(const MatmulCta &cta, int side);
  int64_t bytes() const override;
  /// A 16-byte vector of adjacent rows from `row` on, at the stage's `depth`-th index of K.
  Emitted factors(Emitted depth, Emitted row) const;

private:
  void put(const Position &position, Emitted factors) const override;
  Emitted factorOf(Emitted element, int64_t lanes) const override { return source.factor(frame, side, element, lanes); }
  Emitted addressOf(const Position &position) const;

  int64_t pitch; // elements between lines
};

class MatmulFma {
public:
  explicit MatmulFma(const MatmulCta &cta);

  /// The bytes of shared memory that sums() uses.
  int64_t bytes() const { return stages[0].bytes() + stages[1].bytes(); }
  /// The sums of this thread over all of K, row by row.
  Values sums(Emitted shared);

  int64_t chunkColumns() const { return cta.tiling.across() * vector; }
  /// Passes the sums of the `chunk`-th chunk of columns to the epilogue.
  void put(const Values &sums, int64_t chunk, const MatmulTileEpilogue &epilogue) const;

private:
  /// The row and column in the tile of the `group`-th vector of this thread's sums along either side.
  Emitted rowOf(int64_t group) const;
  Emitted columnOf(int64_t group) const;
  Values multiply(const Values &sums) const;
  void multiplyAt(Emitted depth, llvm::MutableArrayRef<Emitted> sums) const;
  Values load(Emitted firstDepth) const;
  void store(llvm::ArrayRef<Emitted> loaded, Emitted firstDepth) const;

  const MatmulCta &cta;
  GridFrame &frame;
  const int64_t vector; // adjacent sums: 16 bytes
  std::array<WidenedStage, 2> stages;
};

} // namespace halftone::compiler
