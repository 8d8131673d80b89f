// How a CPU computes a matmul kernel: how it accumulates the sums, and how it reads both operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MatmulSource.h"
#include "compiler/targets/cpu/matmul/MatmulSizes.h"
#include <optional>

namespace halftone::compiler {

/// How the sums of a block are computed.
enum class Multiply : uint8_t {
  registers,  // micro-kernels of a few rows and a strip of columns
  dots,       // dot products of rows of A and rows of a transposed B: lanes run along K
  amxTiles,   // AMX tile registers
  imageLines, // micro-kernels of adjacent output positions along a line of an image
};

/// Where the elements of A are read.
enum class ReadA : uint8_t {
  inPlace,       // in the operand, which has the accumulator's type
  pairsInPlace,  // in the operand, which has pairs along K
  packedRows,    // in scratch, as [row][k]
  packedColumns, // in scratch, as [k][row]
  packedPanels,  // in scratch, as [panel][k][row], in panels of as many rows as a vector has lanes
  image,         // in the image of which A is a window; elements outside of the image are skipped
};

/// Where the elements of B are read.
enum class ReadB : uint8_t {
  inPlace,     // in the operand, which is packed already, or whose rows are used too rarely to be worth packing
  packedStrip, // in scratch; a strip is packed just before or, if lanes run along columns, while it is multiplied
  packedTile,  // in scratch; the whole tile is packed before it is multiplied
};

/// The decisions that follow from the linalg form, its schedule and the CPU. Emits no code.
class MatmulPlan : public MatmulSource {
public:
  /// On failure a diagnostic names the part of the kernel for which there is no code.
  static mlir::FailureOr<MatmulPlan> of(const KernelSource &source, const CpuTarget &cpu);
  /// Returns true if there is code that multiplies elements read this way, in `groups` of several indices of K or one
  /// by one.
  static bool isLegal(Multiply multiply, bool groups, ReadA a, ReadB b);

  /// Returns true if adjacent elements in the operand's memory are adjacent along K only. Elements of panels are
  /// adjacent along columns as well.
  bool lanesAlongDepth(int side) const { return !(side == 1 && readsPanels) && MatmulSource::lanesAlongDepth(side); }
  /// Returns true if the operand is one matrix per batch index, [k][column] or [column][k], whose elements packing
  /// copies or widens. For A, read "row" for "column".
  bool isMatrix(int side) const;
  /// Returns true if cores multiply strips of B: packed elements in scratch or in panels, or a matrix in place.
  bool readsStrips() const {
    return b != ReadB::inPlace || (panels && groupSize > 1 && depthOfWord == 1 && bias != 8) || readsMatrix();
  }
  /// Returns true if cores read B in place, as a matrix [k][column].
  bool readsMatrix() const { return b == ReadB::inPlace && multiply == Multiply::registers && isMatrix(1); }
  /// "bf16" or "f16" if the operand's elements are stored in that type and one instruction widens them; otherwise "".
  std::string narrowElement(int side) const;
  /// Returns true if panels of B must be checked for subnormal numbers in advance: AMX tiles flush them to 0, and B's
  /// pairs are not packed, which would check them.
  bool watchesPanelsAhead() const {
    return multiply == Multiply::amxTiles && b == ReadB::inPlace && product->multiplyWidened;
  }
  /// How products are computed, for reports.
  std::string method() const;

  const CpuTarget &cpu;
  const ProductRow *product;
  int64_t groupSize; // indices of K in one packed element
  MatmulSizes sizes;
  Multiply multiply{};
  ReadA a{};
  ReadB b{};
  std::optional<Panels> panels;     // the layout of B, if it is packed already and has no prologue
  std::optional<WindowForm> window; // A is a window of an image
  bool packsAlongPositions = false; // packing the window copies one tap of adjacent positions at a time
  bool evenDepth, wholeRuns;        // K is even; a vector along K lies in one run of the last dim of K
  bool fuses;                       // a product and an addition may be one instruction
  /// The bias that is added to each element of B if the product takes unsigned elements of B; otherwise 0. The sums of
  /// a row start with a correction, minus the bias times the sum of the row of A, which is stored after the row of
  /// packed A.
  int64_t bias = 0;
  int64_t depthOfWord = 1; // packed elements along K per word of B, if B is read in place
  /// B's prologue looks elements up by inputs that vary along K only. Indices of K in one word of B whose inputs are
  /// equal share a lookup.
  bool looksUpInWords = false;
  bool scales;                // strips of B with tiny elements are scaled (MatmulFactors::scale)
  bool sumsAreResult = false; // the epilogue is a copy: sums of whole panels are stored in the result

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
  bool readsPanels = false; // B is packed already; it may have a prologue
  int64_t wordGroup = 1;    // indices of K per 32-bit word of B
};

} // namespace halftone::compiler
