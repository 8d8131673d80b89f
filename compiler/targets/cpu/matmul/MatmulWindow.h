// The left operand of a matmul that is a window of an image: which element of the image each of its elements is.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulBlock.h"

namespace halftone::compiler {

/// The matrix has a row for each place of the window (examples and places, row-major), and a column for each tap and
/// channel. A tap outside of the image sees none of its elements, and is 0.
class MatmulWindow {
public:
  explicit MatmulWindow(const MatmulBlock &block);

  /// The role of the matrix's rows: those of A, or in a gradient K.
  MatmulRole placesRole() const { return block.plan.lanesAlongDepth(0) ? rowRole : depthRole; }
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
  Emitted pitch() const { return channels * last().stride; }
  /// The packed element of neighbours in the image from `offset` on.
  Emitted groupAt(Emitted offset) const;
  /// A vector of them.
  Emitted groupsAt(Emitted offset) const;
  /// How many packed elements along K to multiply at a time, at most `most`: all channels of some taps, in parts of equal
  /// size.
  Emitted partOfDepth(int64_t most) const;
  /// The elements of the image in the lines along its first axis that `places` see, and in those between them.
  Range elementsOf(Range places) const;

  /// A spatial axis of one launch.
  struct Axis {
    Emitted places, taps, extent, low;
    int64_t stride, dilation, hole;
  };
  const Axis &last() const { return axes.back(); }
  /// A tap along some axes: whether it is inside of the image, and its linear index.
  struct Seen {
    Emitted inside, index;
  };
  /// What a place of `example` sees by a tap along the axes before the last.
  Seen alongOuter(const Values &places, const Values &taps, Emitted example) const;
  /// The same along all axes, where `outer` is what it sees along those before the last.
  Seen alongLast(const Seen &outer, Emitted place, Emitted tap) const;
  /// The tap along each axis but the last, of row number `row` of the taps that differ along the last alone.
  Values tapsOf(Emitted row) const;
  /// The tap along each axis, of tap number `linear` in row-major order.
  Values tapsAt(Emitted linear) const;

  Emitted channels, elements; // of the image
  mlir::Value image;

private:
  Seen along(const Axis &axis, Emitted place, Emitted tap) const;
  Seen joined(const Seen &outer, const Seen &inner, const Axis &axis) const;
  /// Columns of the taps that differ along the last axis alone, from `begin` on.
  struct RowOfTaps {
    Seen outer; // along the other axes
    Emitted begin;
    Range columns; // those of the row that are asked for
  };
  Values stretchesOf(const RowOfTaps &row, Emitted place, int64_t count, const Values &carried, OfStretch body) const;
  Emitted constant(int64_t value) const { return frame.constant(value); }

  const MatmulBlock &block;
  KernelFrame &frame;
  std::vector<Axis> axes;
};

} // namespace halftone::compiler
