// The left operand of a matmul that is a window of an image: copied in the runs in which it lies in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulBlock.h"

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
  /// Neighbouring places along the last axis.
  struct Line {
    Place first;
    Emitted count, number; // how many, and the number of the first among the places that are asked for
  };
  void forLines(Range places, Loop loop, llvm::function_ref<void(const Line &)> body) const;

  /// Columns of neighbouring places of a line that are neighbours in memory.
  struct Stretch {
    Range columns;
    Emitted from;       // the first column of the first place, in elements of the image; each place is pitch() further
    Emitted begin, end; // the places that see the image; if unset, all of them
  };
  using OfStretch = llvm::function_ref<Values(const Stretch &, const Values &)>;
  /// Code for the stretches of `count` places from `first` on, in the order of columns, without those that no place sees. The
  /// window has no holes. `body` gets the carried values and returns the next; returns the last.
  Values forStretches(const Place &first, int64_t count, Range columns, llvm::ArrayRef<Emitted> carried,
                      OfStretch body) const;
  Emitted pitch() const { return channels * axes.back().stride; }
  /// The packed element of neighbours in the image from `offset` on.
  Emitted groupAt(Emitted offset) const;
  /// A vector of them.
  Emitted groupsAt(Emitted offset) const;
  /// How many packed elements along K to multiply at a time, at most `most`: all channels of some taps, in parts of equal
  /// size.
  Emitted partOfDepth(int64_t most) const;
  /// The elements of the image in the lines along its first axis that `places` see, and in those between them.
  Range elementsOf(Range places) const;

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
  Values tapsOf(Emitted row) const;
  /// Columns of the taps that differ along the last axis alone, from `begin` on.
  struct RowOfTaps {
    Seen outer; // along the other axes
    Emitted begin;
    Range columns; // those of the row that are asked for
  };
  Values stretchesOf(const RowOfTaps &row, Emitted place, int64_t count, const Values &carried, OfStretch body) const;
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
