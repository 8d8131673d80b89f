// A matmul's left operand that is a window of an image: the mapping from its elements to those of the image.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulBlock.h"

namespace halftone::compiler {

/// The matrix has one row per output position of the window (examples and positions, row-major), and one column per tap
/// and channel. The elements of a tap outside of the image are 0.
class MatmulWindow {
public:
  explicit MatmulWindow(const MatmulBlock &block);

  /// The role of the matrix's rows: those of A, or K in a gradient.
  MatmulRole positionsRole() const { return block.plan.lanesAlongDepth(0) ? rowRole : depthRole; }
  struct Range {
    Emitted first, count;
  };
  /// An output position: its index along each spatial axis, and its example.
  struct Position {
    Values along;
    Emitted example;
  };
  Position positionAt(Emitted linear) const;
  using Loop = llvm::function_ref<void(Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)>)>;
  /// Emits `body` for each of these positions, with its index among them. `loop` emits the loops.
  void forPositions(Range positions, Loop loop, llvm::function_ref<void(const Position &, Emitted number)> body) const;
  /// Adjacent positions along the last axis.
  struct Line {
    Position first;
    Emitted count, number; // the number of positions, and the index of the first one among the requested positions
  };
  void forLines(Range positions, Loop loop, llvm::function_ref<void(const Line &)> body) const;

  /// Columns that are contiguous in memory at each of several adjacent positions of a line.
  struct ColumnRun {
    Range columns;
    Emitted from;       // the first column at the first position, in elements of the image; positions are pitch() apart
    Emitted begin, end; // the positions at which the columns are inside the image; null: all
  };
  using OfColumnRun = llvm::function_ref<Values(const ColumnRun &, const Values &)>;
  /// Emits code for the runs of the `count` positions from `first` on, in the order of columns; runs outside of the
  /// image at all positions are skipped. The window must have no base dilation. `body` maps the carried values to the
  /// next ones; returns the final values.
  Values forColumnRuns(const Position &first, int64_t count, Range columns, llvm::ArrayRef<Emitted> carried,
                       OfColumnRun body) const;
  Emitted pitch() const { return channels * last().stride; }
  /// The packed element of adjacent elements of the image from `offset` on.
  Emitted groupAt(Emitted offset) const;
  /// A vector of such packed elements.
  Emitted groupsAt(Emitted offset) const;
  /// The number of packed elements along K to multiply at a time, at most `limit`: all channels of some taps, in parts
  /// of equal size.
  Emitted partOfDepth(int64_t limit) const;
  /// The elements of the image in the lines along its first axis that `positions` cover, and in those between them.
  Range elementsOf(Range positions) const;

  /// A spatial axis of one launch.
  struct Axis {
    Emitted positions, taps, extent, paddingLow;
    int64_t stride, dilation, baseDilation;
  };
  const Axis &last() const { return axes.back(); }
  /// A tap along some axes: whether it is inside the image, and its linear index.
  struct Seen {
    Emitted inside, index;
  };
  /// The element that a tap reads at a position of `example`, along the axes before the last.
  Seen alongOuter(const Values &positions, const Values &taps, Emitted example) const;
  /// The element that a tap reads, along all axes; `outer` is the element along those before the last.
  Seen alongLast(const Seen &outer, Emitted position, Emitted tap) const;
  /// The tap along each axis but the last, for the `row`-th row of taps; a row's taps differ only along the last axis.
  Values tapsOf(Emitted row) const;
  /// The tap along each axis of the tap with row-major index `linear`.
  Values tapsAt(Emitted linear) const;

  Emitted channels, elements; // of the image
  mlir::Value image;

private:
  Seen along(const Axis &axis, Emitted position, Emitted tap) const;
  Seen joined(const Seen &outer, const Seen &inner, const Axis &axis) const;
  /// Columns from `begin` on of the taps that differ only along the last axis.
  struct RowOfTaps {
    Seen outer; // along the other axes
    Emitted begin;
    Range columns; // the requested ones of the row
  };
  Values columnRunsOf(const RowOfTaps &row, Emitted position, int64_t count, const Values &carried,
                      OfColumnRun body) const;
  Emitted constant(int64_t value) const { return frame.constant(value); }

  const MatmulBlock &block;
  KernelFrame &frame;
  std::vector<Axis> axes;
};

} // namespace halftone::compiler
