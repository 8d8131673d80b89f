// Computes the elements of an image that a window's positions and taps read.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/WindowMap.h"

namespace halftone::compiler {

WindowMap::Seen WindowMap::along(const Axis &axis, Emitted position, Emitted tap) const {
  Emitted index = position * axis.stride + tap * axis.dilation - axis.paddingLow;
  const Emitted begin = constant(0);
  if (axis.baseDilation == 1)
    return {(index >= begin) & (index < axis.extent), index};
  const Emitted whole = index / constant(axis.baseDilation);
  return {(index >= begin) & equal(whole * axis.baseDilation, index) & (whole < axis.extent), whole};
}

WindowMap::Seen WindowMap::joined(const Seen &outer, const Seen &inner, const Axis &axis) const {
  return {outer.inside & inner.inside, outer.index * axis.extent + inner.index};
}

WindowMap::Seen WindowMap::alongOuter(const Values &positions, const Values &taps, Emitted example) const {
  Seen seen{equal(example, example), example};
  for (size_t axis = 0; axis + 1 < axes.size(); ++axis)
    seen = joined(seen, along(axes[axis], positions[axis], taps[axis]), axes[axis]);
  return seen;
}

WindowMap::Seen WindowMap::alongLast(const Seen &outer, Emitted position, Emitted tap) const {
  return joined(outer, along(last(), position, tap), last());
}

WindowMap::Position WindowMap::positionAt(Emitted linear) const {
  Position position{Values(axes.size()), linear};
  for (size_t axis = axes.size(); axis-- > 0; position.example = position.example / axes[axis].positions)
    position.along[axis] = position.example % axes[axis].positions;
  return position;
}

void WindowMap::forLines(Range positions, Loop loop, llvm::function_ref<void(const Line &)> body) const {
  const Emitted length = last().positions, end = positions.first + positions.count;
  loop(positions.first / length, ceilDivide(end, length), constant(1), [&](Emitted number) {
    const Emitted begin = maximum(number * length, positions.first), finish = minimum((number + 1) * length, end);
    Line line{{Values(axes.size()), number}, finish - begin, begin - positions.first};
    line.first.along.back() = begin - number * length;
    for (size_t axis = axes.size() - 1; axis-- > 0; line.first.example = line.first.example / axes[axis].positions)
      line.first.along[axis] = line.first.example % axes[axis].positions;
    body(line);
  });
}

void WindowMap::forPositions(Range positions, Loop loop,
                             llvm::function_ref<void(const Position &, Emitted)> body) const {
  forLines(positions, loop, [&](const Line &line) {
    loop(constant(0), line.count, constant(1), [&](Emitted number) {
      Position position = line.first;
      position.along.back() = position.along.back() + number;
      body(position, line.number + number);
    });
  });
}

Values WindowMap::tapsOf(Emitted row) const {
  Values taps(axes.size() - 1);
  for (size_t axis = taps.size(); axis-- > 0;) {
    taps[axis] = axis == 0 ? row : row % axes[axis].taps;
    row = axis == 0 ? row : row / axes[axis].taps;
  }
  return taps;
}

Values WindowMap::tapsAt(Emitted linear) const {
  Values taps(axes.size());
  for (size_t axis = axes.size(); axis-- > 0; linear = linear / axes[axis].taps)
    taps[axis] = linear % axes[axis].taps;
  return taps;
}

} // namespace halftone::compiler
