// A matmul kernel as the emitter of CPUs sees it: the instruction, how operands are read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MatmulSource.h"
#include "compiler/targets/cpu/matmul/Products.h"
#include <optional>

namespace halftone::compiler {

/// Sizes of the micro-kernels, whose sums are in registers. Columns are done in panels of `vectors` vectors, the
/// rest of them vector by vector; rows in groups as large as the registers hold, the rest in smaller ones. `depth`
/// is how many indices of K are packed at a time.
struct MatmulSizes {
  int64_t lanes, vectors;
  llvm::SmallVector<int64_t, 3> panelRows, vectorRows; // descending, the last is 1
  int64_t depth = 256;                                 // at most
  int64_t rowStep = 1;                                 // sums are made for a multiple of it
  static constexpr int64_t sumsInFlight = 8;           // two multiply-adds a cycle, each of four cycles
  int64_t columns() const { return lanes * vectors; }
  /// Elements between rows of packed A that lie along K: a vector more than they have, so that rows begin in different
  /// sets of a cache.
  int64_t rowPitch() const { return depth + lanes; }
  /// `tallSums`: panels of two vectors, and groups of more rows.
  MatmulSizes(const CpuTarget &cpu, mlir::Type accumulator, const ProductRow &product, bool tallSums = false);
  /// Of a matmul kernel.
  MatmulSizes(const CpuTarget &cpu, mlir::Type accumulator, const KernelSource &source);
};

/// Scratch of one tile, in elements of the accumulator: packed A, packed B, sums, and a square of lanes for
/// transposing with a line for the values that packing A watched. Before them stands, in eight bytes, which tile's A is
/// packed: batch * row tiles + row tile + 1; and in eight bytes each, which column tiles' panels the thread has watched in
/// this launch, and which of them have a subnormal number.
struct MatmulScratch {
  static constexpr int64_t headBytes = 64;
  int64_t a, b, sums, square; // elements
  /// `packsRows`: A is packed.
  MatmulScratch(const MatmulSizes &sizes, int64_t tileRows, int64_t tileColumns, bool packsRows = true);
};

/// Facts that follow from the linalg form and the CPU; nothing here emits code.
class MatmulProblem : public MatmulSource {
public:
  /// On failure a diagnostic names the part of the kernel for which there is no code.
  static mlir::FailureOr<MatmulProblem> read(const KernelSource &source, const CpuTarget &cpu);

  /// Whether neighbours in the operand's memory are neighbours along K. In panels they are neighbours along columns too.
  bool lanesAlongDepth(int side) const { return !(side == 1 && readsPanels) && MatmulSource::lanesAlongDepth(side); }
  /// Rows of A times rows of a transposed B, both read along K where they are: nothing is packed.
  bool takesDots() const;
  bool usesTiles() const { return product->usesTiles(); }
  /// A lies packed as [row][k], not as [k][row].
  bool packsRowsAlongDepth() const { return usesTiles() || lanesAlongDepth(0) != packsAlongPlaces(); }
  /// A lies packed as [panel][k][row], in panels of as many rows as a vector has lanes.
  bool packsRowPanels() const;
  /// A is a window, and packing copies neighbouring places at a time.
  bool packsAlongPlaces() const { return window && source.form.alongPlaces; }
  /// A is a window whose elements are read in the image; those outside are left out.
  bool readsImage() const { return window && source.form.readsImage; }
  /// A is stored in the accumulator's type, or in pairs along K, and lies so that its elements can be read where they are.
  bool readsRowsInPlace() const;
  bool readsRowPairsInPlace() const;
  /// B is read where it is: it comes packed, or its rows are used too seldom.
  bool readsColumnsInPlace() const {
    return (panels && groupSize > 1) || takesDots() || (fewRows() && groupSize == 1 && !lanesAlongDepth(1));
  }
  /// B is packed one panel at a time, just before it is multiplied or, where lanes run along columns, with the first
  /// rows.
  bool packsPanels() const { return groupSize == 1 && !readsColumnsInPlace(); }
  /// Tiles of pairs lose subnormal numbers of B in panels, which nobody packs and so looks at.
  bool watchesPanelsAhead() const { return panels && usesTiles() && groupSize == 2; }
  /// B is multiplied as numbers larger by this, so that none is below 0: 0 where the product takes signed numbers. Behind
  /// each row of packed A stands how much its sums have too much, negated.
  int64_t raiseOfColumns() const {
    if (product->signedOperands)
      return 0;
    return panels && panels->bits == 4 ? 8 : 128;
  }
  /// Neighbours along K, in packed elements, that a word of B has where it is read in place.
  int64_t depthOfWord() const { return readsPanels && readsColumnsInPlace() ? wordGroup / groupSize : 1; }
  /// B's prologue looks elements up by inputs along K alone, whose equal neighbours in a word of B need one look.
  bool looksUpInWords() const;
  /// The epilogue copies: sums of whole panels are made in the result.
  bool sumsAreResult() const;
  bool fewRows() const { return source.form.fewRows; }
  /// How the product is made, for reports.
  std::string method() const;

  const CpuTarget &cpu;
  MatmulSizes sizes;
  bool fuses = false; // products and sums may be one instruction
  const ProductRow *product;
  int64_t groupSize;                // indices of K in one packed element
  std::optional<Panels> panels;     // how B lies in memory, where it comes packed and is multiplied as it is
  bool readsPanels = false;         // B comes packed, maybe through a prologue
  int64_t wordGroup = 1;            // indices of K in a 32-bit word of it
  std::optional<WindowForm> window; // A is a window of an image

private:
  MatmulProblem(MatmulSource read, const CpuTarget &cpu);
  mlir::LogicalResult checkGroups();
  mlir::LogicalResult readPanels();
  mlir::LogicalResult readPanels(mlir::linalg::GenericOp generic, mlir::OpOperand &operand);
  mlir::LogicalResult readWindow();
};

} // namespace halftone::compiler
