// Products of matrices by mma.sync: each warp has the sums of some rows and columns in its lanes' registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/MatmulStage.h"
#include "compiler/targets/gpu/MatmulTileEpilogue.h"
#include "compiler/targets/nvptx/Mma.h"

namespace halftone::compiler {

/// Fails, with a diagnostic that names the types found, unless the kernel's factors, as they are stored, and its sums have the
/// types that `instruction` takes.
mlir::LogicalResult checkFactors(const MatmulSource &source, const MmaInstruction &instruction);

/// A stage in shared memory as ldmatrix reads it: lines of narrow elements, each of chunks of 16 bytes that are permuted
/// so that eight lines of one chunk, and eight chunks of one line, lie in different banks. A line is one row along K;
/// of elements of 16 bits that are neighbours from row to row, one index of K along rows, which ldmatrix transposes.
/// Lines longer than 128 bytes are cut: panels of 128 bytes of all lines lie one after the other.
class FragmentStage : public MatmulStage {
public:
  FragmentStage(const MatmulCta &cta, int side, int64_t factorBytes);
  int64_t bytes() const override { return rows * depth * factorBytes; }

  /// Whether the operand's chunks go to shared memory as they are, so that no register holds them.
  bool isCopied() const;
  /// Called before the others: the values that move() takes for the first stage.
  Values begin();
  /// Moves stage `number`, an i32, and returns the values for the next one. If the operand is copied, the copies are
  /// then under way, and stages past the end of K become zeros.
  Values move(Emitted number, llvm::ArrayRef<Emitted> at) const;
  /// The parts that lanes hold of 16 rows from `row` on and 32 bytes of K from index `depth` on, in four i32: of A the
  /// operand of one mma.sync, of B those of two.
  Values fragments(Emitted row, int64_t depth) const;

private:
  void put(const Place &place, Emitted factors) const override;
  Emitted factorOf(Emitted element, int64_t) const override { return element; }
  Values copy(Emitted number, Emitted from) const;
  Emitted copiedFrom(Emitted firstDepth) const;
  Emitted chunkAt(Emitted line, Emitted chunk) const;
  Emitted elementAt(const Place &place) const;

  int64_t spacing() const { return (alongDepth ? rows : depth) / chunks(); } // of lines that a thread copies

  const int64_t factorBytes;
  const bool linesAlongDepth;
  // Of a copied operand, constant in the loop over stages:
  Emitted wholeStages;            // i32: those before the one in which K ends
  Emitted linesInside, lastLines; // i32: of this thread's lines, from its first: in a whole stage, in the last one
  Emitted lineStride;             // elements between neighbouring lines
};

class MatmulMma {
public:
  MatmulMma(const MatmulCta &cta, const MmaInstruction &instruction);

  /// Bytes of shared memory that sums() uses.
  int64_t bytes() const { return slots * slotBytes(); }
  /// The sums of this lane over all of K: four of each mma.sync, row by row of those of a warp.
  Values sums(Emitted shared);

  int64_t chunkColumns() const { return std::min<int64_t>(cta.tiling.columns, 64); }
  /// Gives the sums of the `chunk`-th chunk of columns to the epilogue.
  void put(const Values &sums, int64_t chunk, const MatmulTileEpilogue &epilogue) const;

private:
  int64_t slotBytes() const { return stages[0].bytes() + stages[1].bytes(); }
  /// Points the stages to a slot of shared memory.
  void useSlot(Emitted slot);
  /// Begins to move stage `number` of both operands to a slot; takes and returns the values of both for move().
  Values begin(Emitted slot, Emitted number, llvm::ArrayRef<Emitted> at);
  Values multiply(const Values &sums) const;
  /// sums += a * b, of one mma.sync.
  void multiplyAdd(llvm::ArrayRef<Emitted> a, llvm::ArrayRef<Emitted> b, llvm::MutableArrayRef<Emitted> sums) const;

  static constexpr int64_t mmaRows = 16, mmaColumns = 8;

  const MatmulCta &cta;
  GridFrame &frame;
  const MmaInstruction &instruction;
  std::array<FragmentStage, 2> stages;
  int64_t slots;                 // stages in shared memory: one is multiplied while the others arrive
  Emitted firstRow, firstColumn; // of the warp, in the tile
};

} // namespace halftone::compiler
