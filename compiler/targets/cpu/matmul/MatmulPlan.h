// How a matmul kernel of a CPU is computed: what makes the sums, and how both operands are read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MatmulSource.h"
#include "compiler/targets/cpu/matmul/MatmulSizes.h"
#include <optional>

namespace halftone::compiler {

/// What makes the sums of a block.
enum class Multiply : uint8_t {
  registers,  // micro-kernels of some rows and a strip of columns
  dots,       // rows of A times rows of a transposed B: lanes run along K
  amxTiles,   // tile registers
  imageLines, // micro-kernels of neighbouring output positions along a line of an image
};

/// Where the elements of A are read.
enum class ReadA : uint8_t {
  inPlace,       // in the operand, which has the accumulator's type
  pairsInPlace,  // in the operand, which has pairs along K
  packedRows,    // in scratch, as [row][k]
  packedColumns, // in scratch, as [k][row]
  packedPanels,  // in scratch, as [panel][k][row], in panels of as many rows as a vector has lanes
  image,         // in the image whose window A is, without the elements outside of it
};

/// Where the elements of B are read.
enum class ReadB : uint8_t {
  inPlace, // in the operand, which came packed, or whose rows are used too seldom to be packed
  packedStrip, // in scratch, where a strip is packed just before it is multiplied or, where lanes run along columns, meanwhile
  packedTile, // in scratch, where the tile is packed before it is multiplied
};

/// What follows from the linalg form, its schedule and the CPU. Nothing here emits code.
class MatmulPlan : public MatmulSource {
public:
  /// On failure a diagnostic names the part of the kernel for which there is no code.
  static mlir::FailureOr<MatmulPlan> of(const KernelSource &source, const CpuTarget &cpu);
  /// Whether there is code that multiplies elements so read, in `groups` of several indices of K or one by one.
  static bool isLegal(Multiply multiply, bool groups, ReadA a, ReadB b);

  /// Whether neighbours in the operand's memory are neighbours along K. In panels they are neighbours along columns too.
  bool lanesAlongDepth(int side) const { return !(side == 1 && readsPanels) && MatmulSource::lanesAlongDepth(side); }
  /// Whether packing copies or widens the elements of an operand that is one matrix per index of the batch, [k][column] or
  /// [column][k]. For A the columns are rows.
  bool isMatrix(int side) const;
  /// Whether the multiplication loads vectors of packed elements of B, from scratch or from panels.
  bool readsStrips() const { return b != ReadB::inPlace || (panels && groupSize > 1 && depthOfWord == 1 && bias != 8); }
  /// "bf16" or "f16" if the operand's elements are stored so and one instruction widens them; otherwise "".
  std::string narrowElement(int side) const;
  /// Pairs of B in panels are multiplied by tiles, which lose subnormal numbers, and nobody packs, and so looks at, them.
  bool watchesPanelsAhead() const {
    return multiply == Multiply::amxTiles && b == ReadB::inPlace && product->multiplyWidened;
  }
  /// How the product is made, for reports.
  std::string method() const;

  const CpuTarget &cpu;
  const ProductRow *product;
  int64_t groupSize; // indices of K in one packed element
  MatmulSizes sizes;
  Multiply multiply{};
  ReadA a{};
  ReadB b{};
  std::optional<Panels> panels;     // how B lies in memory, where it comes packed and is multiplied as it is
  std::optional<WindowForm> window; // A is a window of an image
  bool packsAlongPositions = false; // packing the window copies a tap of neighbouring positions at a time
  bool evenDepth, wholeRuns; // K is a multiple of a pair; a vector along K lies in one run of the last of its dims
  bool fuses;                // products and sums may be one instruction
  /// If the product takes unsigned elements of B, each is multiplied with this added; else 0. The correction that a row's sums
  /// begin with, which is minus the bias times the row's sum, is stored after each row of packed A.
  int64_t bias = 0;
  int64_t depthOfWord = 1; // neighbours along K, in packed elements, that a word of B has where it is read in place
  /// B's prologue looks elements up by inputs along K alone, whose equal neighbours in a word of B need one look.
  bool looksUpInWords = false;
  bool scales;                // strips of B whose elements are tiny are scaled (MatmulFactors::scale)
  bool sumsAreResult = false; // the epilogue copies: sums of whole panels are made in the result

private:
  MatmulPlan(MatmulSource read, const CpuTarget &cpu);
  mlir::LogicalResult checkDepth();
  mlir::LogicalResult readPanels();
  mlir::LogicalResult readPanels(mlir::linalg::GenericOp generic, mlir::OpOperand &operand);
  mlir::LogicalResult readWindow();
  mlir::LogicalResult choose();
  Multiply chooseMultiply() const;
  ReadA chooseReadA() const;
  ReadB chooseReadB() const;
  bool haveOneDim(std::initializer_list<MatmulRole> roles) const;
  bool findLookups() const;
  bool findCopy() const;

  bool fewRows, readsImage;
  bool readsPanels = false; // B comes packed, maybe through a prologue
  int64_t wordGroup = 1;    // indices of K in a 32-bit word of it
};

} // namespace halftone::compiler
