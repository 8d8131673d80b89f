// Matrix products by mma.sync: each warp holds the sums of some rows and columns in its lanes' registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/MatmulStage.h"
#include "compiler/targets/gpu/MatmulTileEpilogue.h"
#include "compiler/targets/nvptx/Mma.h"

namespace halftone::compiler {

/// Fails with a diagnostic that names the types found, unless the stored types of the kernel's factors and the type of
/// its sums are those of `instruction`.
mlir::LogicalResult checkFactors(const MatmulSource &source, const MmaInstruction &instruction);

/// A stage in shared memory in the layout that ldmatrix reads: lines of narrow elements, in chunks of 16 bytes. Chunks
/// are permuted so that the same chunk of eight lines, and eight chunks of one line, are in different banks. A line is
/// one row along K or, for 16-bit elements that are contiguous along rows, one index of K along rows, which ldmatrix
/// transposes. Lines longer than 128 bytes are split: panels of 128 bytes of all lines are consecutive.
class FragmentStage : public MatmulStage {
public:
  FragmentStage(const MatmulCta &cta, int side, int64_t factorBytes);
  int64_t bytes() const override { return rows * depth * factorBytes; }

  /// Returns true if the operand's chunks are copied to shared memory unchanged, without passing through registers.
  bool isCopied() const;
  /// Must be called before the others. Returns the values that move() takes for the first stage.
  Values begin();
  /// Moves stage `number`, an i32, and returns the values for the next stage. If the operand is copied, the copies are
  /// then in flight, and stages past the end of K become zeros.
  Values move(Emitted number, llvm::ArrayRef<Emitted> at) const;
  /// The lanes' fragments of 16 rows from `row` on and 32 bytes of K from index `depth` on, in four i32: for A the
  /// operand of one mma.sync, for B those of two.
  Values fragments(Emitted row, int64_t depth) const;

private:
  void put(const Position &position, Emitted factors) const override;
  Emitted factorOf(Emitted element, int64_t) const override { return element; }
  Values copy(Emitted number, Emitted from) const;
  Emitted copiedFrom(Emitted firstDepth) const;
  Emitted chunkAt(Emitted line, Emitted chunk) const;
  Emitted elementAt(const Position &position) const;

  int64_t spacing() const { return (alongDepth ? rows : depth) / chunks(); } // of lines that a thread copies

  const int64_t factorBytes;
  const bool linesAlongDepth;
  // For a copied operand, invariant in the loop over stages:
  Emitted wholeStages;            // i32: those before the one in which K ends
  Emitted linesInside, lastLines; // i32: of this thread's lines, from its first: in a whole stage, in the last one
  Emitted lineStride;             // elements between adjacent lines
};

class MatmulMma {
public:
  MatmulMma(const MatmulCta &cta, const MmaInstruction &instruction);

  /// The bytes of shared memory that sums() uses.
  int64_t bytes() const { return slots * slotBytes(); }
  /// The sums of this lane over all of K: four for each mma.sync, row by row of those of a warp.
  Values sums(Emitted shared);

  int64_t chunkColumns() const { return std::min<int64_t>(cta.tiling.columns, 64); }
  /// Passes the sums of the `chunk`-th chunk of columns to the epilogue.
  void put(const Values &sums, int64_t chunk, const MatmulTileEpilogue &epilogue) const;

private:
  int64_t slotBytes() const { return stages[0].bytes() + stages[1].bytes(); }
  /// Points the stages to a slot of shared memory.
  void useSlot(Emitted slot);
  /// Starts to move stage `number` of both operands to a slot; takes and returns the values of both for move().
  Values begin(Emitted slot, Emitted number, llvm::ArrayRef<Emitted> at);
  Values multiply(const Values &sums) const;
  /// sums += a * b, for one mma.sync.
  void multiplyAdd(llvm::ArrayRef<Emitted> a, llvm::ArrayRef<Emitted> b, llvm::MutableArrayRef<Emitted> sums) const;

  static constexpr int64_t mmaRows = 16, mmaColumns = 8;

  const MatmulCta &cta;
  GridFrame &frame;
  const MmaInstruction &instruction;
  std::array<FragmentStage, 2> stages;
  int64_t slots;                 // stages in shared memory: one is multiplied while the others are loaded
  Emitted firstRow, firstColumn; // of the warp, in the tile
};

} // namespace halftone::compiler
