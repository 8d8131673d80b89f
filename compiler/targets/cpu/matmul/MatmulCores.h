// Cores that multiply strips of a matmul, shared by all kernels of a target.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Core.h"
#include "compiler/targets/cpu/matmul/MatmulSums.h"
#include "compiler/targets/cpu/matmul/PackingCores.h"

namespace halftone::compiler {

/// Multiplies rows of A by a packed strip of B, with one micro-kernel per size of row groups, the largest first:
///     sums[row][column] += A[row][k] * B[k][column]    for row in [first, end), k in [0, count), columns of the strip
/// All pitches are in packed elements.
struct StripCore {
  /// The arguments of the function, in this order.
  struct Call {
    Emitted a, rowPitch, depthPitch; // A[row][k] is at a + row * rowPitch + k * depthPitch, unless A is in panels
    Emitted panelPitch;              // between panels, which have as many rows as a vector has lanes; lanes * rowPitch
                                     // without panels; no group of rows crosses a panel boundary
    Emitted b; // [k][column], or panels of one vector of columns, aligned to a vector; unused if B is read in place
    Emitted count;
    Emitted sums, sumsPitch; // of row 0
    Emitted continues;       // i1: whether `sums` contains sums of earlier slices of K; otherwise they start at 0
    Emitted first, end;
    /// For a core that reads B unpacked: B[k][column] is at from + k * fromPitch + column; there are `columns` columns.
    Emitted from{}, fromPitch{}, columns{};
    /// For a core that scales: the inverse of the power of two that scales B and, if the core reads B unpacked, the
    /// power itself.
    Emitted unscale{}, scale{};
    Emitted panel{};   // for B in panels: the distance between panels
    Emitted watched{}; // for a core that watches: the magnitudes of A, see SubnormalWatch
    Values arguments() const;
  };

  /// The function has no result or, if the core watches, returns whether a factor contains a subnormal number.
  Core core() const;

  SumRule rule;
  std::string accumulator; // "f32"
  int64_t lanes, vectors;
  llvm::SmallVector<int64_t, 4> rows; // sizes of groups of rows, descending; the last is 1
  /// If not 0, the element of A at index `correction` of K is added to the initial sums of its row.
  int64_t correction = 0;
  /// The core packs the strip and in the same loop computes the sums of the first group of the largest size, or no sums
  /// if there are fewer rows. A strip of one vector may have fewer columns than lanes.
  bool packs = false;
  /// B is not packed: all rows are multiplied by elements in place. A strip of one vector may have fewer columns than
  /// lanes.
  bool inPlace = false;
  /// B is scaled by a power of two (MatmulFactors::scale): the sums of this slice of K are unscaled before they are
  /// added to those of earlier slices.
  bool scales = false;
  bool inPanels = false; // B is in panels of one vector, [panel][k][column]
  bool biases = false;   // adds 128 to each byte of B
  /// The core computes only the sums of the first group, of the largest size or, with fewer rows, of one row, and checks
  /// B in the same loop. If a factor contains a subnormal number, it does not store the sums.
  bool watches = false;
  OperandElement operand{}; // of unpacked B
  bool masks = false;       // masked loads are cheap
  bool manyPointers = true; // there are fewer registers than pointers to rows

  bool readsUnpacked() const { return packs || inPlace; }

private:
  void emit(mlir::ModuleOp module) const;
};

/// The number of groups of `count` rows, one of `counts`, that the remaining `rows` rows are divided into.
Emitted groupsOfRows(Emitted rows, int64_t count, llvm::ArrayRef<int64_t> counts);

/// The prefetch distance of B in indices of K, which covers the latency of memory. Hardware does not prefetch rows that
/// are far apart.
inline constexpr int64_t depthAhead = 16;

} // namespace halftone::compiler
