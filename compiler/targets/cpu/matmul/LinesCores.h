// Cores that multiply positions of a window, whose elements are read directly from the image, by a packed strip.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Core.h"
#include "compiler/targets/cpu/matmul/MatmulSums.h"
#include "compiler/targets/cpu/matmul/WindowMap.h"

namespace halftone::compiler {

/// Multiplies rows of a window's matrix by a packed strip of B:
///     sums[row][column] += window[first + row][k] * B[k][column]    for row in [0, rows), k in a slice of K
/// The window is not packed. Adjacent positions on a line of the image are rows that are accumulated together; their
/// elements of one tap have a constant stride in memory. A tap outside of the image adds nothing to the sums of a
/// position. The sums of a group of positions stay in registers for the whole slice, unless a tap is outside of the
/// image at other positions of the group than the first or the last.
///
/// All offsets, channels and pitches are in packed elements.
struct LinesCore {
  /// The arguments of the function, in this order, followed by the numbers of each axis.
  struct Call {
    Emitted image, channels;
    Emitted first, rows;            // positions
    Emitted b;                      // [k][column], aligned to a vector; k begins with the slice
    Emitted firstDepth, countDepth; // the slice of K
    Emitted sums, sumsPitch;        // of row 0
    Emitted continues; // i1: whether `sums` contains sums of earlier slices of K; otherwise they start at 0
    std::vector<WindowMap::Axis> axes; // strides along the last one are positive; no base dilation
    Values arguments() const;
  };

  /// The function has no result.
  Core core() const;

  SumRule rule;            // `ordered` makes no difference: every sum is accumulated in the order of K
  std::string accumulator; // "f32"
  int64_t lanes, vectors;
  llvm::SmallVector<int64_t, 5> positions; // sizes of groups of adjacent positions, descending; the last is 1
  size_t rank;                             // the number of axes

private:
  void emit(mlir::ModuleOp module) const;
};

} // namespace halftone::compiler
