// The left operand of a matmul that is a window of an image: copied in the runs in which it lies in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/MatmulBlock.h"

namespace halftone::compiler {

/// The matrix has a row for each place of the window (examples and places, row-major), and a column for each tap and
/// channel. Taps outside of the image are 0. Copies have the accumulator's type; for an instruction that takes groups, the
/// image's, so that neighbours make groups.
class MatmulWindow {
public:
  explicit MatmulWindow(const MatmulBlock &block);

  /// The role of the matrix's rows: those of A, or in a gradient K.
  MatmulRole placesRole() const { return block.problem.lanesAlongDepth(0) ? rowRole : depthRole; }
  struct Range {
    Emitted first, count;
  };
  /// Where a place stands: along each spatial axis, and in which example.
  struct Place {
    Values along;
    Emitted example;
  };
  Place placeAt(Emitted linear) const;
  using Loop = llvm::function_ref<void(Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)>)>;
  /// Code for each of these places, whose number among them `body` gets too. `loop` makes the loops.
  void forPlaces(Range places, Loop loop, llvm::function_ref<void(const Place &, Emitted number)> body) const;
  /// Copies these columns of the row of `place` to neighbouring elements from `to` on. The elements behind them, fewer
  /// than a vector has, then hold anything.
  void copy(const Place &place, Range columns, Emitted to) const;
  /// As `copy`, of `count` columns that are all outside.
  void copyOutside(Emitted count, Emitted to) const;
  Emitted at(Emitted to, Emitted offset) const { return frame.address(to, element, offset); }
  /// Copies this column of the rows of `places`, which go forward and have no holes along the last axis, to neighbouring
  /// elements of the accumulator's type from `to` on. The elements behind them, fewer than a vector has, then hold anything.
  void copyPlaces(Emitted column, Range places, Emitted to) const;

private:
  /// A spatial axis of one launch.
  struct Axis {
    Emitted places, taps, extent, low;
    int64_t stride, dilation, hole;
  };
  /// A tap along some axes: whether it is inside of the image, and its linear index.
  struct Seen {
    Emitted inside, index;
  };
  /// Part of a row of taps along the last axis that is contiguous in memory.
  struct Run {
    Seen seen;
    Emitted begin, length; // columns of the matrix
  };

  Seen along(const Axis &axis, Emitted place, Emitted tap) const;
  Seen joined(const Seen &outer, const Seen &inner, const Axis &axis) const;
  /// Neighbouring places along the last axis.
  struct Line {
    Place first;
    Emitted count, number; // how many, and the number of the first among the places that are asked for
  };
  void forLines(Range places, Loop loop, llvm::function_ref<void(const Line &)> body) const;
  void copyRowOfTaps(const Seen &outer, Emitted place, Emitted begin, Range columns, Emitted to) const;
  void copyRun(const Run &run, Range columns, Emitted to) const;
  void copyInside(Emitted from, Emitted count, Emitted to) const;
  void copyVectors(Emitted from, Emitted count, Emitted to) const;
  Emitted read(Emitted from, mlir::VectorType vector) const;
  Emitted readBeforeEnd(Emitted from, mlir::VectorType vector) const;
  Emitted factorOf(Emitted read) const;
  void copyLine(const Seen &line, const Values &taps, Emitted channel, Range places, Emitted to) const;
  void copyStrided(Emitted from, Emitted pitch, Emitted count, Emitted to) const;
  Seen alongOuter(const Values &places, const Values &taps, Emitted example) const;
  void zero(Emitted begin, Emitted end, Emitted to) const;
  Emitted constant(int64_t value) const { return frame.constant(value); }

  const MatmulBlock &block;
  KernelFrame &frame;
  mlir::Type element; // of a copy
  int64_t step;       // elements in a vector of a copy
  std::vector<Axis> axes;
  Emitted channels, elements; // of the image
  mlir::Value image;
};

} // namespace halftone::compiler
