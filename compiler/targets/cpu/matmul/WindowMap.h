// The mapping from the output positions and taps of a window to the elements of an image.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include <vector>

namespace halftone::compiler {

/// All numbers are known when the code runs, so kernels and cores share it. Output positions are numbered row-major
/// over the examples and the spatial axes; a row of taps consists of those that differ only along the last axis.
class WindowMap {
public:
  /// A spatial axis.
  struct Axis {
    Emitted positions, taps, extent, paddingLow, stride, dilation;
    int64_t baseDilation = 1;
  };
  /// `channels` is the number of elements per pixel.
  WindowMap(CodeBuilder &code, Emitted channels, std::vector<Axis> axes)
      : channels(channels), axes(std::move(axes)), code(code) {}

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

  const Axis &last() const { return axes.back(); }
  /// A tap along some axes: whether it is inside the image, and its linear index.
  struct Seen {
    Emitted inside, index;
  };
  /// The element that a tap reads at a position of `example`, along the axes before the last.
  Seen alongOuter(const Values &positions, const Values &taps, Emitted example) const;
  /// The element that a tap reads, along all axes; `outer` is the element along those before the last.
  Seen alongLast(const Seen &outer, Emitted position, Emitted tap) const;
  /// The tap along each axis but the last, for the `row`-th row of taps.
  Values tapsOf(Emitted row) const;
  /// The tap along each axis of the tap with row-major index `linear`.
  Values tapsAt(Emitted linear) const;

  Emitted channels;
  std::vector<Axis> axes;

private:
  Seen along(const Axis &axis, Emitted position, Emitted tap) const;
  Seen joined(const Seen &outer, const Seen &inner, const Axis &axis) const;
  Emitted constant(int64_t value) const { return code.constant(value); }

  CodeBuilder &code;
};

} // namespace halftone::compiler
