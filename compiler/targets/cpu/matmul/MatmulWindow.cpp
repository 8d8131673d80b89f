// The mapping from the elements of a window's matrix to the image.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulWindow.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

MatmulWindow::MatmulWindow(const MatmulBlock &block)
    : image(block.plan.contraction.getInputs()[0]), block(block), frame(block.frame) {
  const WindowForm &form = *block.plan.window;
  size_t next = size_t(frame.dims) + 2; // after the extents and the tile
  const auto number = [&] { return frame.extents[next++]; };
  const auto divisor = [&] { return maximum(number(), constant(1)); }; // it may be 0 for an empty matrix
  Emitted examples = block.size[batchRole] * block.size[positionsRole()];
  elements = constant(1);
  for (size_t axis = 0; axis < form.rank(); ++axis) {
    const Emitted positions = divisor(), taps = divisor(), extent = number(), paddingLow = number();
    axes.push_back(
        {positions, taps, extent, paddingLow, form.stride[axis], form.dilation[axis], form.baseDilation[axis]});
    examples = examples / positions;
    elements = elements * extent;
  }
  channels = divisor();
  elements = elements * channels * examples;
}

MatmulWindow::Seen MatmulWindow::along(const Axis &axis, Emitted position, Emitted tap) const {
  Emitted index = position * axis.stride + tap * axis.dilation - axis.paddingLow;
  const Emitted begin = constant(0);
  if (axis.baseDilation == 1)
    return {(index >= begin) & (index < axis.extent), index};
  const Emitted whole = index / constant(axis.baseDilation);
  return {(index >= begin) & equal(whole * axis.baseDilation, index) & (whole < axis.extent), whole};
}

MatmulWindow::Seen MatmulWindow::joined(const Seen &outer, const Seen &inner, const Axis &axis) const {
  return {outer.inside & inner.inside, outer.index * axis.extent + inner.index};
}

MatmulWindow::Seen MatmulWindow::alongOuter(const Values &positions, const Values &taps, Emitted example) const {
  Seen seen{equal(example, example), example};
  for (size_t axis = 0; axis + 1 < axes.size(); ++axis)
    seen = joined(seen, along(axes[axis], positions[axis], taps[axis]), axes[axis]);
  return seen;
}

MatmulWindow::Seen MatmulWindow::alongLast(const Seen &outer, Emitted position, Emitted tap) const {
  return joined(outer, along(last(), position, tap), last());
}

MatmulWindow::Position MatmulWindow::positionAt(Emitted linear) const {
  Position position{Values(axes.size()), linear};
  for (size_t axis = axes.size(); axis-- > 0; position.example = position.example / axes[axis].positions)
    position.along[axis] = position.example % axes[axis].positions;
  return position;
}

void MatmulWindow::forLines(Range positions, Loop loop, llvm::function_ref<void(const Line &)> body) const {
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

void MatmulWindow::forPositions(Range positions, Loop loop,
                                llvm::function_ref<void(const Position &, Emitted)> body) const {
  forLines(positions, loop, [&](const Line &line) {
    loop(constant(0), line.count, constant(1), [&](Emitted number) {
      Position position = line.first;
      position.along.back() = position.along.back() + number;
      body(position, line.number + number);
    });
  });
}

Values MatmulWindow::tapsOf(Emitted row) const {
  Values taps(axes.size() - 1);
  for (size_t axis = taps.size(); axis-- > 0;) {
    taps[axis] = axis == 0 ? row : row % axes[axis].taps;
    row = axis == 0 ? row : row / axes[axis].taps;
  }
  return taps;
}

Values MatmulWindow::tapsAt(Emitted linear) const {
  Values taps(axes.size());
  for (size_t axis = axes.size(); axis-- > 0; linear = linear / axes[axis].taps)
    taps[axis] = linear % axes[axis].taps;
  return taps;
}

Values MatmulWindow::forColumnRuns(const Position &first, int64_t count, Range columns, ArrayRef<Emitted> carried,
                                   OfColumnRun body) const {
  const Emitted width = last().taps * channels, end = columns.first + columns.count;
  return frame.loop(
      columns.first / width, ceilDivide(end, width), constant(1), carried, [&](Emitted number, const Values &now) {
        const Emitted begin = maximum(number * width, columns.first);
        const Emitted count_ = minimum((number + 1) * width, end) - begin;
        const RowOfTaps row{alongOuter(first.along, tapsOf(number), first.example), number * width, {begin, count_}};
        return frame.choose(
            row.outer.inside, [&] { return columnRunsOf(row, first.along.back(), count, now, body); },
            [&] { return now; });
      });
}

/// If all positions see all taps, and the taps are contiguous in memory, they form one run.
Values MatmulWindow::columnRunsOf(const RowOfTaps &row, Emitted position, int64_t count, const Values &carried,
                                  OfColumnRun body) const {
  const Axis &axis = last();
  const Emitted line = row.outer.index * axis.extent, seen = position * axis.stride - axis.paddingLow;
  const Emitted first = row.columns.first - row.begin, end = first + row.columns.count;
  const auto ofTap = [&](Emitted tap, const Values &now) {
    const Emitted shift = tap * axis.dilation - axis.paddingLow; // of the index that position 0 sees
    const auto positionFrom = [&](Emitted index) {               // the first that sees the index or a later one
      return minimum(
          maximum(ceilDivide(maximum(index - shift, constant(0)), constant(axis.stride)) - position, constant(0)),
          constant(count));
    };
    const Emitted begin = maximum(tap * channels, first), past = minimum((tap + 1) * channels, end);
    const Emitted from = (line + seen + tap * axis.dilation) * channels + (begin - tap * channels);
    return body({{row.begin + begin, past - begin}, from, positionFrom(constant(0)), positionFrom(axis.extent)}, now);
  };
  const auto tapByTap = [&] {
    return frame.loop(first / channels, ceilDivide(end, channels), constant(1), carried, ofTap);
  };
  if (axis.dilation != 1)
    return tapByTap();
  const Emitted isInside = (seen >= constant(0)) & (seen + (count - 1) * axis.stride + axis.taps <= axis.extent);
  return frame.choose(
      isInside, [&] { return body({row.columns, (line + seen) * channels + first, {}, {}}, carried); }, tapByTap);
}

Emitted MatmulWindow::groupAt(Emitted offset) const {
  const Type stored = getElementTypeOrSelf(image);
  return frame.load(block.plan.accumulator, frame.address(block.pointerOf(image), stored, offset),
                    elementBytes(stored));
}

Emitted MatmulWindow::groupsAt(Emitted offset) const {
  const Type stored = getElementTypeOrSelf(image);
  return frame.load(block.lanesOf(block.plan.accumulator), frame.address(block.pointerOf(image), stored, offset),
                    elementBytes(stored));
}

MatmulWindow::Range MatmulWindow::elementsOf(Range positions) const {
  const Axis &axis = axes.front();
  const Position first = positionAt(positions.first), last = positionAt(positions.first + positions.count - 1);
  const Emitted none = constant(0), reach = (axis.taps - 1) * axis.dilation;
  const auto lineAt = [&](const Position &position, Emitted offset) {
    return minimum(maximum(position.along.front() * axis.stride - axis.paddingLow + offset, none), axis.extent);
  };
  // Positions with a negative stride may see all lines of their examples.
  const bool goesForward = axis.stride > 0;
  const Emitted begin = first.example * axis.extent + (goesForward ? lineAt(first, minimum(reach, none)) : none);
  const Emitted end = last.example * axis.extent + (goesForward ? lineAt(last, maximum(reach, none) + 1) : axis.extent);
  Emitted line = channels;
  for (size_t inner = 1; inner < axes.size(); ++inner)
    line = line * axes[inner].extent;
  return {begin * line, maximum(end - begin, none) * line};
}

Emitted MatmulWindow::partOfDepth(int64_t limit) const {
  const Emitted depth = maximum(block.groups(), constant(1)), group = constant(block.plan.groupSize);
  const auto parts = [&](Emitted unit) { // of K, in multiples of `unit`
    const Emitted units = ceilDivide(depth, unit), together = maximum(constant(limit) / unit, constant(1));
    return ceilDivide(units, ceilDivide(units, together)) * unit;
  };
  const Emitted lanes = constant(block.sizes.lanes);
  const Emitted ofTap = maximum(channels / group, constant(1));
  return select(ofTap <= constant(limit), parts(ofTap), parts(lanes));
}

} // namespace halftone::compiler
