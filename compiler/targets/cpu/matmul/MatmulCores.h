// The parts of a matmul that are the same in all kernels of a target, as cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Core.h"
#include "compiler/targets/cpu/matmul/MatmulSums.h"
#include "compiler/targets/cpu/matmul/PackingCores.h"

namespace halftone::compiler {

/// Multiplies rows of A with a packed strip of B: a micro-kernel for each group of rows, the largest first. Adds
///     sums[row][column] += A[row][k] * B[k][column]    for row in [first, end), k in [0, count), columns of the strip
/// where every pitch counts packed elements.
struct StripCore {
  /// What the function takes, in this order.
  struct Call {
    Emitted a, rowPitch, depthPitch; // A[row][k] is at a + row * rowPitch + k * depthPitch, if A does not lie in panels
    Emitted panelPitch;              // between panels of as many rows as a vector has lanes; lanes * rowPitch without
                                     // panels; no group of rows crosses one
    Emitted b;                       // [k][column], or panels of a vector of columns, aligned as vectors are
    Emitted count;
    Emitted sums, sumsPitch; // of row 0
    Emitted continues;       // i1: whether earlier parts of K are in the sums, which else begin with 0
    Emitted first, end;
    /// If the core packs: B[k][column] before it is packed is at from + k * fromPitch + column; `columns` are there.
    Emitted from{}, fromPitch{}, columns{};
    /// If the core scales: the inverse of the power of two that B is scaled by, and, if it packs, the power itself.
    Emitted unscale{}, scale{};
    Emitted panel{};   // if B lies in panels: between two
    Emitted watched{}; // if the core watches: the magnitudes of A, see SubnormalWatch
    Values arguments() const;
  };

  /// Returns nothing, or, if the core watches, whether a factor has a subnormal number.
  Core core() const;

  SumRule rule;
  std::string accumulator; // "f32"
  int64_t lanes, vectors;
  llvm::SmallVector<int64_t, 4> rows; // sizes of groups, descending, the last is 1
  /// If not 0, a row's sums begin with the element of A at index `correction` of K too.
  int64_t correction = 0;
  /// The core packs the strip, and meanwhile makes the sums of the first group of the largest size; none if there are fewer
  /// rows. If there is one vector, the strip may have fewer columns.
  bool packs = false;
  /// B is scaled by a power of two (MatmulFactors::scale), so sums of this part of K are unscaled before they are added
  /// to those of earlier parts.
  bool scales = false;
  bool inPanels = false; // B lies in panels of one vector, [panel][k][column]
  bool biases = false;   // each byte of B becomes 128 more
  /// The core makes the sums of the first group of rows, of the largest size if there are so many, else one row, and
  /// looks at B meanwhile. If a factor has a subnormal number, it leaves the sums as they were.
  bool watches = false;
  OperandElement operand{}; // of B before it is packed
  bool masks = false;       // masked loads are cheap
  bool manyPointers = true; // there are fewer registers than pointers to rows

private:
  void emit(mlir::ModuleOp module) const;
};

/// How many groups of `count` rows, one of `counts`, are made of `rows` rows that are left.
Emitted groupsOfRows(Emitted rows, int64_t count, llvm::ArrayRef<int64_t> counts);

/// B is asked for so many indices of K ahead: memory answers in that time; rows are too far apart for the CPU to guess.
inline constexpr int64_t depthAhead = 16;

} // namespace halftone::compiler
